"""`await` works in every magic, wherever it works without one."""

import asyncio
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError

from ipyjaxbench.testing import FakeClock
from tests.bench import recorder
from tests.jupyter.kernel import Kernel
from tests.scripted import PER_CALL
from tests.shell import Shell

CALL = PER_CALL * 1e-9


@pytest.fixture
def awaiting(shell: Shell, scripted_clock: FakeClock) -> Shell:
    """A session with a function that takes some time once it is awaited, and none before."""

    async def f(seconds: float = 0.002) -> Any:
        await asyncio.sleep(0)
        scripted_clock.sleep(seconds)
        return np.ones(3)

    shell.names.update(f=f, asyncio=asyncio)
    return shell


EACH_CALL = (
    "%fwtime -o -q -r 3 -n 2 await f()",
    "for _ in [1]:\n    r = %fwtime -q -r 3 -n 2 await f()",
    "async def g():\n    r = %fwtime -q -r 3 -n 2 await f()\n    return r\nr = await g()",
    "%%fwtime -q -v r -r 3 -n 2\nfrom math import *\nx = await f()",
    "%%fwtime -q -v r -r 3 -n 2\n!true\nawait f()",
    "r = %fwtime -q -r 3 -n 2 await asyncio.gather(f(), f(0.001))",
    "%%fwtime -q -v r -r 3 -n 2\nasync with asyncio.timeout(9):\n    await f()",
    "%%fwtime -q -v r -r 3 -n 2\n[await f() async for _ in once()]",
)


@pytest.mark.parametrize("cell", EACH_CALL)
def test_each_call_is_awaited_and_timed(awaiting: Shell, cell: str) -> None:
    async def once() -> Any:
        yield 1

    awaiting.names["once"] = once
    result = awaiting.run(cell) or awaiting.names["r"]
    assert len(result.samples) == 3
    assert result.best >= CALL + 0.002


def test_a_cell_keeps_its_names_and_its_set_up_may_await(awaiting: Shell) -> None:
    awaiting.run("%%fwtime -q -v r -r 2 -n 2 z = await f()\nx = await f()\ny = x + z")
    assert awaiting.names["y"].tolist() == [2, 2, 2]


def test_a_task_that_nobody_awaits_is_told(awaiting: Shell) -> None:
    code = "asyncio.create_task(f(0.001))"
    awaiting.run(f"await f()  # so that a loop runs\nr = %fwtime -q -n 2 -r 2 t = {code}")
    result = awaiting.names["r"]
    (note,) = [note for note in result.notes if note.code == "lazy"]
    assert (note.advice, result.verdict) == (f"t = await {code}", "INVALID")


def test_arms_may_await(awaiting: Shell) -> None:
    awaiting.run("%%fwcompare -q -v c -b 0.3\nfast: await f(0.001)\nslow: await f(0.004)")
    result = awaiting.names["c"]
    assert result["fast"].best == pytest.approx(CALL + 0.001)
    assert result["slow"].best == pytest.approx(CALL + 0.004)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%%fwdevices\nkept = await f()", "kept f64[3]"),
        ("%fwdevices await f()", "f64[3]"),
        ("%%trace_cached\nawait f()", "no compiled function was called"),
    ],
)
def test_the_other_magics_await_too(awaiting: Shell, cell: str, says: str) -> None:
    awaiting.run(cell)
    assert says in awaiting.text + "".join(o.data["text/plain"] for o in awaiting.shown)


def test_in_a_function_within_an_event_loop_it_is_said_where_await_works(awaiting: Shell) -> None:
    with pytest.raises(UsageError, match="await works only in a cell"):
        awaiting.run("def g():\n    %fwtime await f()\nawait asyncio.sleep(0)\ng()")


def test_in_a_kernel_the_loop_of_the_kernel_awaits(kernel: Kernel) -> None:
    kernel.run("import asyncio\nlock = asyncio.Lock()")
    kernel.run("async with lock:\n    await asyncio.sleep(0)")
    kernel.run("%%fwtime -q -v r -r 3 -n 2\nasync with lock:\n    await asyncio.sleep(0.002)")
    assert kernel.run("print(r.best > 0.002)").text == "True\n"
    line = "%fwtime -v r -n 1 -r 99 await asyncio.sleep(0.5)"
    assert kernel.run(line, interrupt_after="measuring: ").error == "KeyboardInterrupt"
    assert kernel.run("print(1 <= len(r.samples) < 90)").text == "True\n"


def test_measurements_of_tasks_take_turns(awaiting: Shell) -> None:
    note, seen = recorder()

    async def step() -> None:
        note("begins")
        await awaiting.names["f"]()
        note("ends")

    awaiting.names.update(results=[], step=step)
    awaiting.run(
        "async def g():\n    r = %fwtime -q -r 3 -n 2 await step()\n    results.append(r)\n"
        "await asyncio.gather(g(), g(), g())"
    )
    assert [r.best for r in awaiting.names["results"]] == pytest.approx([CALL + 0.002] * 3)
    assert seen == ["begins", "ends"] * (len(seen) // 2)


#: A task that stands in a sample of its measurement when the cell ends.
MEASURES_UNTIL_IT_MAY_GO_ON = """
begun, may_go_on, turns = asyncio.Event(), asyncio.Event(), iter([True])
async def step():
    if not next(turns, False):
        begun.set()
        await may_go_on.wait()
async def g():
    r = %fwtime -q -r 9 -n 1 await step()
    return r
task = asyncio.create_task(g())
await begun.wait()
"""


def test_what_other_cells_show_while_a_task_measures_is_shown(kernel: Kernel) -> None:
    kernel.run("import asyncio, gc, sys")
    kernel.run("def state(): return gc.isenabled(), sys.stdout, get_ipython().display_pub")
    kernel.run("before = state()")
    kernel.run(MEASURES_UNTIL_IT_MAY_GO_ON)
    shown = kernel.run("print('heard')\ndisplay('seen')\nassert not task.done()")
    assert (shown.status, shown.text) == ("ok", "heard\n")
    assert [data["text/plain"] for data in shown.results] == ["'seen'"]
    assert kernel.run("may_go_on.set()\nr = await task").status == "ok"
    assert kernel.run("print(len(r.samples), state() == before)").text == "8 True\n"


def test_an_alias_awaits_as_its_magic_does(awaiting: Shell) -> None:
    awaiting.run("%alias_magic -p '-q -r 3 -n 2' timed fwtime")
    awaiting.run("r = %timed await f()")
    awaiting.run("%%timed -v s\nx = await f()")
    assert len(awaiting.names["r"].samples) == len(awaiting.names["s"].samples) == 3


BELOW_OTHERS = (
    "%time r = %fwtime -q -r 3 -n 2 await f()",
    "%%time\n%%fwtime -q -v r -r 3 -n 2\nx = await f()",
    "%timeit -n 1 -r 1 %fwtime -q -v r -r 3 -n 2 await f()",
    "%prun -q r = %fwtime -q -r 3 -n 2 await f()",
    "%%capture\nr = %fwtime -q -r 3 -n 2 await f()",
)


@pytest.mark.parametrize("cell", BELOW_OTHERS)
def test_below_magics_of_others_the_code_is_awaited_too(awaiting: Shell, cell: str) -> None:
    awaiting.run(cell)
    assert awaiting.names["r"].best >= CALL + 0.002


def test_below_them_in_an_event_loop_it_is_said_that_nobody_can_await(kernel: Kernel) -> None:
    kernel.run("import asyncio")
    for magic in ("%%time", "%%timeit -n 1 -r 1", "%%prun -q", "%%capture said"):
        shown = kernel.run(f"{magic}\n%fwtime -q -n 1 -r 2 await asyncio.sleep(0.001)").text
        if "said" in magic:
            shown = kernel.run("print(said.stdout, said.stderr)").text
        assert "UsageError: await works only" in " ".join(shown.split())
        assert "SyntaxError" not in shown
        assert "already running" not in shown


def test_a_magic_of_others_by_the_same_name_is_not_awaited(
    awaiting: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    magics = awaiting.shell.magics_manager.magics["line"]
    monkeypatch.setitem(magics, "fwtime", lambda line: f"theirs: {line}")
    assert awaiting.run("r = %fwtime await f()\nr") == "theirs: await f()"


@pytest.mark.parametrize(
    "cell",
    ["%%fwtime await bad()\n1 + 1", "%%fwtime x = await bad()\nawait f()",
     "%%fwcompare\nx = await bad()\na: x\nb: 2",
     "%%fwcompare -b 0.05\nsetup a: x = await bad()\na: 1\nb: 2"],
)  # fmt: skip
def test_a_set_up_that_awaits_fails_as_a_plain_cell_does(awaiting: Shell, cell: str) -> None:
    awaiting.run("async def bad(): raise KeyError('boom')")
    with pytest.raises(KeyError, match="boom"):
        awaiting.run(cell)
    assert "await bad()" in awaiting.text
    assert awaiting.text.splitlines()[-1] == "KeyError: 'boom'"
