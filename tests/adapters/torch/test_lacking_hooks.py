"""Hooks of modules that a program was made without: it goes on without them."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch._dynamo

from ipyjaxbench.adapters.torch.retracing.global_hooks import REGISTERS
from tests.shell import Shell

# Autograd's, of a tensor in between, where code goes on after a break.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute")
PARTS = """
import torch
from torch import nn
ran = torch.zeros(())
def hook(*args): ran.add_(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.act = nn.Linear(2, 2), nn.ReLU()
    def forward(self, x): return self.act(self.lin(x))
net, rows = Net(), torch.ones(5, 2)
x = torch.ones(1, 2, requires_grad=True)
"""
WHOLE = f"{PARTS}f = torch.compile(net, backend='eager')"
CALLED = f"""{PARTS}
def helper(x): return net(x) * 2
@torch.compile(backend='eager')
def f(x): return helper(x)
"""
GIVEN = PARTS + "@torch.compile(backend='eager')\ndef f(x, model=net): return model(x)"
AROUND = f"{PARTS}net = nn.Sequential(net)\nf = torch.compile(net, backend='eager')"
IN_PLACE = f"{PARTS}f = net\nf.compile(backend='eager')"
AGENT = f"""{PARTS}
class Agent:
    def __init__(self): self.actor, self.critic = net, [nn.Linear(2, 2)]
    @torch.compile(backend='eager')
    def act(self, x): return self.critic[0](self.actor(x))
agent = Agent()
f = agent.act
"""
PARTIAL = f"""{PARTS}
import functools
f = torch.compile(functools.partial(lambda model, x: model(x), net), backend='eager')
"""
THIS = f"""{PARTS}
class Own(nn.Module):
    def __init__(this):
        super().__init__()
        this.lin = nn.Linear(2, 2)
    @torch.compile(backend='eager')
    def forward(this, x): return this.lin(x)
f = net = Own()
"""
BROKEN = f"""{PARTS}
class Block(Net):
    def forward(self, x):
        y = self.lin(x)
        torch._dynamo.graph_break()
        return y * 2
net = nn.Sequential(Block(), nn.ReLU())
f = torch.compile(net, backend='eager')
"""
REST = BROKEN.replace("y * 2", "self.act(y)")
OVERRIDDEN = f"""{PARTS}
class Own(Net):
    def __call__(self, x): return self.forward(x)
net = Own()
@torch.compile(backend='eager')
def f(x): return net(x)
"""
DISABLED = f"""{PARTS}
class Block(Net):
    @torch.compiler.disable
    def forward(self, x): return self.lin(x)
net = nn.Sequential(nn.Linear(2, 2), Block())
f = torch.compile(net, backend='eager')
"""
UNUSED = f"""{PARTS}
@torch.compile(backend='eager')
def f(x):
    if net.training:
        return nn.functional.linear(x, net.lin.weight)
    return net(x)
"""
TWO = f"""{PARTS}
other = Net()
@torch.compile(backend='eager')
def f(model, x): return model(x)
"""
HELD = f"""{PARTS}models = {{'a': net}}
del net
f = torch.compile(models['a'], backend='eager')
"""
OF_OBJECT = f"""{PARTS}
class Trainer:
    def __init__(self): self.model = Net()
trainer = Trainer()
f = torch.compile(trainer.model, backend='eager')
"""
CLOSED_OVER = f"""{PARTS}
def make(model): return torch.compile(lambda x: model(x), backend='eager')
f = make(net)
"""
COMPILED_ALONE = f"{PARTS}f = torch.compile(Net(), backend='eager')"
FORWARD_HOOK = "register_forward_hook(hook)"
ALL_BROKEN = f"[each.{FORWARD_HOOK} for each in (net[0], net[0].lin)]"
ADVICE = (
    "Set `torch._dynamo.config.skip_nnmodule_hook_guards = False`, then `torch.compiler.reset()`"
)


@pytest.fixture
def cells(shell: Shell) -> Iterator[Shell]:
    torch.compiler.reset()
    with torch._dynamo.config.patch(skip_nnmodule_hook_guards=True):
        yield shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]


@pytest.mark.parametrize(
    ("before", "hook", "told"),
    [
        (WHOLE, "net.lin.register_forward_hook(hook)", ("net.lin", "Net")),
        (WHOLE, "net.lin.register_forward_pre_hook(hook)", ("net.lin", "Net")),
        (AROUND, "net.register_full_backward_hook(hook)", ("net", "Sequential")),
        (AROUND, "net[0].act.register_forward_hook(hook)", ("net[0].act", "Sequential")),
        (IN_PLACE, "net.act.register_full_backward_pre_hook(hook)", ("net.act", "Net")),
        (CALLED, "net.act.register_forward_hook(hook)", ("net.act", "f")),
        (GIVEN, "net.register_forward_hook(hook)", ("net", "f")),
        (AGENT, "net.lin.register_forward_hook(hook)", ("agent.actor.lin", "act")),
        (AGENT, "agent.critic[0].register_forward_hook(hook)", ("agent.critic[0]", "act")),
        (PARTIAL, "net.register_forward_hook(hook)", ("net", "<lambda>")),
        (THIS, "net.lin.register_forward_hook(hook)", ("net.lin", "Own")),
        (BROKEN, "net[0].register_forward_hook(hook)", ()),
        (
            BROKEN,
            f"[each.{FORWARD_HOOK} for each in (net[0], net[0].lin)]",
            ("net[0].lin", "Sequential"),
        ),
        (BROKEN, "net[0].lin.register_forward_hook(hook)", ("net[0].lin", "Sequential")),
        (REST, "net[0].act.register_forward_hook(hook)", ("net[0].act", "Sequential")),
        (OVERRIDDEN, "net.register_forward_hook(hook)", None),
        (DISABLED, "net[1].lin.register_forward_hook(hook)", ()),
        (THIS, "net.register_forward_hook(hook)", ()),
        (WHOLE, "net.register_full_backward_hook(hook)", ()),
        (IN_PLACE, "net.register_full_backward_pre_hook(hook)", ()),
        (WHOLE, "net.lin.weight.register_hook(hook)", ()),
    ],
)
def test_a_hook_that_does_not_run_is_told(
    cells: Shell, before: str, hook: str, told: tuple[str, ...] | None
) -> None:
    """With None it runs nowhere: no program lacks it."""
    cells.run(before)
    cells.run("f(x)")
    cells.run(f"handle = {hook}\nf(x)")  # what PyTorch compiles again for it is no cached call
    found = last_call(cells, "f(x)")
    words = [f"{told[0]} has hooks that the program of {told[1]} lacks"] if told else []
    assert [each.words() for each in found.why] == words
    assert found.state == ("STALE" if told else "CACHED")
    cells.run("ran.zero_()\nf(x).sum().backward()")
    assert bool(cells.names["ran"]) is (told == () or hook == ALL_BROKEN)


@pytest.mark.parametrize("before", [BROKEN, REST])
def test_a_hook_that_was_there_before_a_part_was_compiled_is_in_it(
    cells: Shell, before: str
) -> None:
    cells.run(before)
    cells.run("handles = [each.register_forward_hook(hook) for each in (net[0].lin, net[0].act)]")
    cells.run("f(x)\nf(rows)")
    cells.run("other = net[1].register_forward_hook(lambda *_: None)\nother.remove()")
    assert last_call(cells, "f(x)").state == "CACHED"


@pytest.mark.parametrize(
    ("before", "hooked", "does_run"),
    [
        (BROKEN, "net[0].lin", False),
        (REST, "net[0].act", False),
        (BROKEN, "net[1]", True),
        (BROKEN, "net", True),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        "list(map(f, [x, x, x]))",
        "for _ in range(3): list(map(f, [x]))",
        "for _ in range(3): run(f, x)",
        "for _ in range(3): f(x)",
    ],
)
def test_parts_are_looked_at_in_calls_that_other_code_makes(
    cells: Shell, before: str, hooked: str, does_run: bool, call: str
) -> None:
    thread = "threading.Thread(target=f, args=(x,))"
    cells.run(f"import threading\ndef run(f, x): t = {thread}; t.start(); t.join()")
    cells.run(before)
    cells.run("f(x)")
    cells.run(f"handle = {hooked}.{FORWARD_HOOK}\nf(x)")
    cells.run(f"%%trace_cached -qv seen\n{call}")
    (row,) = cells.names["seen"].calls
    told = f"{hooked} has hooks that the program of Sequential lacks"
    assert [each.words() for each in row.why] == [told] * (not does_run)
    assert (row.state, row.times, row.last) == ("CACHED" if does_run else "STALE", 3, 3)
    assert bool(cells.names["ran"]) is does_run


@pytest.mark.parametrize("hooked", ["nn.Linear(1, 1)", "net", "net.lin"])
def test_a_hook_of_a_module_that_is_not_called_is_none(cells: Shell, hooked: str) -> None:
    cells.run(UNUSED)
    cells.run("f(x)")
    cells.run(f"handle = {hooked}.register_forward_hook(hook)")
    assert last_call(cells, "f(x)").state == "CACHED"


CALL, HOOK = "f(net, x)", "handle = other.lin.register_forward_hook(hook)"


@pytest.mark.parametrize("order", [(CALL, HOOK), (HOOK, CALL)])
def test_a_program_that_serves_another_module_lacks_its_hooks(
    cells: Shell, order: tuple[str, str]
) -> None:
    cells.run(TWO)
    for cell in order:
        cells.run(cell)
    assert last_call(cells, "f(net, x)").state == "CACHED"
    found = last_call(cells, "f(other, x)")
    assert [each.words() for each in found.why] == [
        "other.lin has hooks that the program of f lacks"
    ]


def test_what_is_told_to_be_done_has_it_run(cells: Shell) -> None:
    cells.run(TWO)
    cells.run("f(net, x)")
    cells.run("handle = other.lin.register_full_backward_hook(hook)")
    assert last_call(cells, "f(other, x)").fixes == (ADVICE,)
    cells.run("%fwtime -n 1 -r 1 -v timed f(other, x)")
    (note,) = [each for each in cells.names["timed"].notes if each.code == "stale-program"]
    assert note.text == "f runs a stale program: other.lin has hooks that the program of f lacks."
    assert note.advice == f"s{ADVICE[1:].replace('`', '')}"
    cells.run(note.advice.partition("set ")[2].replace(", then ", "\n"))
    cells.run("f(net, x)")
    cells.run("f(other, x)")
    assert last_call(cells, "f(other, x)").state == "CACHED"
    cells.run("f(other, x).sum().backward()")
    assert cells.names["ran"] == 1


def test_of_many_the_first_are_named(cells: Shell) -> None:
    cells.run(f"{PARTS}net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(9)])")
    cells.run("f = torch.compile(net, backend='eager')\nf(x)")
    cells.run("handles = [each.register_forward_hook(hook) for each in net]")
    assert [each.words() for each in last_call(cells, "f(x)").why] == [
        "net[0], net[1] and 7 others have hooks that the program of Sequential lacks"
    ]


def test_each_program_has_the_hooks_of_its_time_and_a_removed_one_is_none(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("f(x)")
    cells.run("handle = net.lin.register_forward_hook(hook)\nf(rows)")
    assert last_call(cells, "f(x)").state == "STALE"
    assert last_call(cells, "f(rows)").state == "CACHED"
    cells.run("handle.remove()")
    assert last_call(cells, "f(x)").state == "CACHED"


def test_programs_can_be_refused_for_it(cells: Shell) -> None:
    cells.run(WHOLE)
    cells.run("import ipyjaxbench\nf(x)\ng = ipyjaxbench.assert_max_traces(f, 1, stale='error')")
    cells.run("g(x)\nhandle = net.lin.register_forward_hook(hook)")
    with pytest.raises(AssertionError, match=r"`Net` runs a stale program: net\.lin has hooks"):
        cells.run("g(x)")


FORWARD = "register_module_forward_hook"
ALONE = PARTS + "f = torch.compile(lambda x: x * 2, backend='eager')"


def runs(cells: Shell) -> float:
    """How often hooks run in a call and its backward pass."""
    cells.run("ran.zero_()\nf(x).sum().backward()")
    return float(cells.names["ran"])


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        *((CALLED, kind) for kind in REGISTERS),
        *(
            (before, FORWARD)
            for before in (WHOLE, GIVEN, AROUND, IN_PLACE, AGENT, PARTIAL, THIS, BROKEN, REST)
        ),
        *((before, FORWARD) for before in (DISABLED, UNUSED, ALONE)),
    ],
)
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.filterwarnings("ignore:Using `torch.compile.module.` when there are global hooks")
def test_a_hook_of_all_modules_that_does_not_run_is_told(
    cells: Shell, before: str, kind: str, skip: bool
) -> None:
    torch._dynamo.config.skip_nnmodule_hook_guards = skip
    cells.run(before)
    cells.run("f(x)")
    cells.run(f"handle = nn.modules.module.{kind}(hook)")
    try:
        cells.run("f(x)")  # what PyTorch compiles again for it is no cached call
        found = last_call(cells, "f(x)")
        ran = runs(cells)
        cells.run("torch.compiler.reset()")
        does_lack = ran < runs(cells)
        assert found.state == ("STALE" if does_lack else "CACHED")
        assert last_call(cells, "f(x)").state == "CACHED"  # made with it
    finally:
        cells.run("handle.remove()")
    if does_lack:
        assert found.why[0].words() == (
            f"a global module hook ({kind}) has come that the program of {found.name} lacks"
        )
        assert found.fixes == ("Call `torch.compiler.reset()`",)


def test_a_hook_of_all_modules_that_was_removed_is_none_and_a_timing_tells(cells: Shell) -> None:
    cells.run(CALLED)
    cells.run("f(x)")
    cells.run(
        f"handle = nn.modules.module.{FORWARD}(hook)\nmore = net.lin.register_forward_hook(hook)"
    )
    assert len(last_call(cells, "f(x)").why) == 2
    cells.run("more.remove()")
    cells.run("%fwtime -n 1 -r 1 -v timed f(x)")
    (note,) = [each for each in cells.names["timed"].notes if each.code == "stale-program"]
    assert note.advice == "call torch.compiler.reset()"
    cells.run("handle.remove()")
    assert last_call(cells, "f(x)").state == "CACHED"


def test_pytorch_keeps_them_where_they_are_looked_for() -> None:
    for register, held in REGISTERS.items():
        assert callable(getattr(torch.nn.modules.module, register))
        assert isinstance(getattr(torch.nn.modules.module, held), dict)


NO_HOOK = "handle = nn.Linear(1, 1).register_forward_hook(hook)"
LACKS = "stale: f (net.lin has hooks that the program of f lacks)"


OTHER = (
    "This is the code of now. Calls of f run another program, which was compiled earlier: net.lin"
    " has hooks that the program of f lacks."
)


def lines_shown(cells: Shell, cell: str) -> list[str]:
    cells.run(cell)
    return [each.data["text/plain"] for each in cells.shown]


def test_the_cell_that_registers_it_is_told(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(CALLED)
    cells.run("f(x)")
    assert lines_shown(cells, NO_HOOK) == []
    assert lines_shown(cells, "handle = net.lin.register_forward_hook(hook)") == [LACKS]
    assert lines_shown(cells, "f(x)") == []  # it is told once
    assert lines_shown(cells, "handle.remove()") == []
    assert lines_shown(cells, "handle = net.lin.register_forward_hook(hook)") == [LACKS]
    (traced,) = lines_shown(cells, "torch.compiler.reset()\nf(x)")
    assert traced.startswith("traced: f ")
    assert lines_shown(cells, "handle.remove()\nf(x)") != [LACKS]


@pytest.mark.parametrize("before", [WHOLE, IN_PLACE, AROUND, THIS])
def test_the_cell_that_registers_it_in_a_compiled_module_is_told(cells: Shell, before: str) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(before)
    cells.run("f(x)")
    part = "net[0].lin" if before == AROUND else "net.lin"
    lines = lines_shown(cells, f"handle = {part}.register_forward_hook(hook)")
    assert lines
    assert all(".lin has hooks that the program of " in line for line in lines)


@pytest.mark.parametrize("before", [TWO, ALONE, UNUSED])
def test_where_it_is_not_known_to_lack_one_the_cell_is_not_told(cells: Shell, before: str) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(before)
    cells.run("f(net, x)" if before == TWO else "f(x)")
    assert lines_shown(cells, "handle = net.act.register_forward_hook(hook)") == []


def test_a_prediction_tells_it(cells: Shell) -> None:
    cells.run(CALLED)
    for change, says in [
        ("f(x)", ""),
        (NO_HOOK, ""),
        (
            "more = net.lin.register_forward_hook(hook)",
            "stale program: net.lin has hooks that the program of f lacks",
        ),
        ("more.remove()", ""),
    ]:
        cells.run(change)
        cells.run("%trace_cached --predict -v seen f(x)")
        (call,) = cells.names["seen"].calls
        assert (call.state, call.says) == ("WOULD-HIT", says)
        verdict = "STALE" if says else "CACHED"
        assert cells.shown[-1].data["text/plain"].splitlines()[1].endswith(verdict)
        assert call.fixes == ((ADVICE,) if says else ())


@pytest.mark.parametrize("form", ["", "--dynamo "])
def test_a_graph_says_that_another_program_is_cached(cells: Shell, form: str) -> None:
    cells.run(CALLED)
    cells.run("f(x)")
    for change, is_told in [
        (NO_HOOK, False),
        ("more = net.lin.register_forward_hook(lambda m, given, out: out * 3)", True),
        ("more.remove()", False),
    ]:
        cells.run(change)
        cells.run(f"%fxgraph -qv shown {form}f(x)")
        notes = [each for each in cells.names["shown"].notes if each.code == "cached-is-stale"]
        assert [each.text for each in notes] == [OTHER] * is_told
    assert last_call(cells, "f(x)").state == "CACHED"


BLOCK = """
import ipyjaxbench
def run(): return f(x)
def check():
    with ipyjaxbench.trace_cached(1, stale='error'):
        {}
"""
LOCAL = """
import ipyjaxbench
def check():
    lin = nn.Linear(2, 2)
    f = torch.compile(lambda x: lin(x), backend='eager')
    f(x)
    handle = {}.register_forward_hook(hook)
    with ipyjaxbench.trace_cached(1, stale='error'):
        f(x)
"""


@pytest.mark.parametrize("before", [WHOLE, CALLED, IN_PLACE, PARTIAL])
@pytest.mark.parametrize("call", ["f(x)", "run()", "list(map(f, [x]))"])
def test_a_block_refuses_a_program_for_it(cells: Shell, before: str, call: str) -> None:
    cells.run(before)
    cells.run(BLOCK.format(call))
    cells.run("f(x)\ncheck()")
    cells.run("handle = net.lin.register_forward_hook(hook)")
    with pytest.raises(AssertionError, match=r"runs a stale program: .* hooks that the program"):
        cells.run("check()")
    cells.run(BLOCK.format("net.train()"))
    cells.run("check()")  # it is not called there
    cells.run("handle.remove()")
    cells.run(BLOCK.format(call))
    cells.run("check()")


def test_a_block_refuses_a_local_program_for_it(cells: Shell) -> None:
    cells.run(PARTS)
    cells.run(LOCAL.format("nn.Linear(1, 1)"))
    cells.run("check()")
    cells.run(LOCAL.format("lin"))
    with pytest.raises(AssertionError, match=r"`<lambda>` runs a stale program: lin has hooks"):
        cells.run("check()")
