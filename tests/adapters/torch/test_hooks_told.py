"""Where hooks that a program lacks are told: below cells, by predictions, graphs and blocks."""

import pytest

from tests.adapters.torch.hooked import (
    ADVICE,
    ALONE,
    AROUND,
    CALLED,
    IN_PLACE,
    PARTIAL,
    PARTS,
    THIS,
    TWO,
    UNUSED,
    WHOLE,
    cells as cells,
    last_call,
)
from tests.shell import Shell

# Autograd's, of a tensor in between, where code goes on after a break.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute")

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
