"""PyTorch: done when it returns on the CPU, asynchronous on a GPU."""

from tests.accuracy.case import Case

_TORCH = """
import torch
cuda = torch.cuda.is_available()
if cuda: sync = torch.cuda.synchronize
place = torch.cuda.get_device_name() if cuda else "cpu"
device = "cuda" if cuda else "cpu"
side = 2000 if cuda else 700
a = torch.randn(side, side, device=device); small = torch.ones(8, device=device)
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
net = net.to(device); batch = torch.randn(64, 256, device=device)
"""
_TRAIN = (
    _TORCH
    + """
target = torch.randn(64, 10, device=device); loss = torch.nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
"""
)
_COMPILED = (
    _TORCH
    + """
compiled = torch.compile(lambda a: torch.tanh(a @ a) + torch.sin(a).sum()); compiled(a)
"""
)
_FRESH = (
    _TORCH
    + """
import itertools
number = globals().get("number") or itertools.count()
fresh = torch.compile(lambda a: torch.tanh(a @ a) * 1.5)
if not next(number): fresh(a)
torch._dynamo.reset()
k = 1.5 + next(number)
fresh = torch.compile(lambda a: torch.tanh(a @ a) * k)
"""
)

TORCH = (
    Case("post: product", "torch.matmul(a, a)", "torch.matmul(a, a); sync()", _TORCH),
    Case("post: to the host", "torch.matmul(a, a).cpu()", setup=_TORCH),
    Case("tiny op", "small + 1", "small + 1; sync()", _TORCH),
    Case("in place", "small.add_(1)", "small.add_(1); sync()", _TORCH),
    Case("to a Python number", "a.sum().item()", setup=_TORCH),
    Case("module", "net(batch)", "net(batch); sync()", _TORCH, coverage=True),
    Case("module, no_grad", "with torch.no_grad(): net(batch)",
         "with torch.no_grad(): net(batch); sync()", _TORCH),
    Case("backward", "optimizer.zero_grad(); loss(net(batch), target).backward()",
         "optimizer.zero_grad(); loss(net(batch), target).backward(); sync()", _TRAIN),
    Case("torch.compile", "compiled(a)", "compiled(a); sync()", _COMPILED),
    Case("first call of torch.compile", "fresh(a)", "fresh(a); sync()", _FRESH, first=True),
)  # fmt: skip
