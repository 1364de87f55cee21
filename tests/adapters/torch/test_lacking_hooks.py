"""Hooks of modules that a program was made without: it goes on without them."""

import pytest

from tests.adapters.torch.hooked import (
    ADVICE,
    AGENT,
    ALL_BROKEN,
    AROUND,
    BROKEN,
    CALLED,
    DISABLED,
    FORWARD_HOOK,
    GIVEN,
    IN_PLACE,
    OVERRIDDEN,
    PARTIAL,
    PARTS,
    REST,
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
    ("before", "hooked", "does_run", "call"),
    [
        (BROKEN, "net[0].lin", False, "list(map(f, [x, x, x]))"),
        (BROKEN, "net[0].lin", False, "for _ in range(3): run(f, x)"),
        (BROKEN, "net", True, "list(map(f, [x, x, x]))"),
        (BROKEN, "net", True, "for _ in range(3): run(f, x)"),
        (REST, "net[0].act", False, "for _ in range(3): list(map(f, [x]))"),
        (REST, "net[0].act", False, "for _ in range(3): f(x)"),
        (BROKEN, "net[1]", True, "for _ in range(3): list(map(f, [x]))"),
        (BROKEN, "net[1]", True, "for _ in range(3): f(x)"),
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
