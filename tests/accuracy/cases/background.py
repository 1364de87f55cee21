"""PyTorch on devices that work in the background, with the waiting written out by hand."""

from tests.accuracy.case import Case

_SETUP = """
import torch, types
place, busy = "standin", torch.ops.standin.busy
def sync():
    for index in range(2): torch.accelerator.synchronize(index)
host = torch.full((64, 64), 0.5); pinned = host.pin_memory()
x, z = host.to("standin:0"), host.to("standin:1")
side, done = torch.Stream(device=x.device), torch.Event(device=x.device)
def work(y): return busy(y, 5)
step = torch.compile(lambda y: busy(y, 5) * 2, backend="eager")
store, box, net = {}, types.SimpleNamespace(), torch.nn.Linear(64, 64).to(x.device)
def put(): store["v"] = work(x)
def drop(): work(x)
def on_side():
    with side: return work(x)
def drop_on_side():
    with side: work(x)
def joined():
    with side:
        y = work(x); done.record()
    torch.accelerator.current_stream(0).wait_event(done)
    return y + 1
def train():
    net.zero_grad(); net(work(x)).sum().backward()
"""


def _case(name: str, typed: str) -> Case:
    return Case(name, typed, f"{typed}; sync()", _SETUP)


#: None takes much less than 1 ms: threads of the host wake up 20 to 50 µs after they are told to.
BACKGROUND = (
    _case("result", "work(x)"),
    _case("name", "y = work(x)"),
    _case("item", "store['y'] = work(x)"),
    _case("three results", "[work(x) for _ in range(3)]"),
    _case("short", "busy(x, 1)"),
    _case("reduced", "work(x).sum()"),
    _case("compiled", "step(x)"),
    _case("autocast", "with torch.autocast('standin'): y = work(x @ x)"),
    _case("backward", "train()"),
    _case("left in a dict", "put()"),
    _case("left in an object", "box.v = work(x)"),
    _case("dropped", "drop()"),
    _case("shape only", "work(x).shape"),
    _case("second device", "work(z)"),
    _case("both devices", "[work(x), work(z)]"),
    _case("one shown, one not", "work(z); x"),
    _case("from one to the other", "work(work(x).to(z.device))"),
    _case("side stream", "on_side()"),
    _case("side stream, dropped", "drop_on_side()"),
    _case("side stream, joined", "joined()"),
    _case("to the host", "work(x).cpu()"),
    _case("to the host, not blocking", "work(x).to('cpu', non_blocking=True)"),
    _case("to a number", "work(x)[0, 0].item()"),
    _case("from the host", "work(host.to(x.device))"),
    _case("from pinned memory", "work(pinned.to(x.device, non_blocking=True))"),
)
