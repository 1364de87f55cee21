"""Code on engines that is hard to time right: what is counted, said, printed and left behind."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from tests.cluster.engines import engines, press_ctrl_c_when_reached
from tests.shell import Shell

Shells = Callable[[str], Shell]
_SHARD_MAP = """
from functools import partial
import jax.numpy as jnp
mapped = jax.jit(jax.shard_map(
    lambda a: jax.lax.psum(a @ a.T, "d"),
    mesh=rows.mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec(),
))
"""


def text(shell: Shell) -> str:
    """The report, each run of blanks as one."""
    return " ".join(shell.shown[-1].data["text/plain"].split())


def numbers_of_calls(client: Any) -> list[int]:
    """How often each engine has called ``step``; the next number is taken."""
    client[:].execute("number = next(calls)", block=True)
    found: list[int] = client[:].pull("number", block=True)
    return found


def test_a_collective_with_the_name_of_the_users_call_is_one(shell_of: Shells) -> None:
    shell = shell_of("jax")
    client = shell.names["rc"]
    if not client[0].apply_sync(lambda: hasattr(__import__("jax"), "shard_map")):
        pytest.skip("this version of JAX has no jax.shard_map")
    client[:].execute(_SHARD_MAP, block=True)
    shell.run("%fwtime --engines all --quick -v found mapped(x)")
    assert len(shell.names["found"].waits) == 2
    assert "exchanged 1 all-reduce" in text(shell)


@pytest.mark.parametrize("kind", ["jax", "torch"])
def test_no_further_call_is_made_where_their_number_is_given(kind: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    before = numbers_of_calls(shell.names["rc"])
    shell.run("%fwtime --engines all -n 3 -r 2 step(x)")
    after = numbers_of_calls(shell.names["rc"])
    # Three times two calls, and the one that asks for the number.
    assert [b - a for a, b in zip(before, after, strict=True)] == [7, 7]
    assert "slowest ? with -n no further calls are made to find out" in text(shell)


def test_few_calls_are_profiled_where_each_takes_longer_than_the_budget(shell_of: Shells) -> None:
    shell = shell_of("torch")
    client = shell.names["rc"]
    client[:].push({"late": 0.4}, block=True)
    shell.run("%fwtime --engines all -b 0.3 -v found step(x)")
    assert [len(each.collectives) for each in shell.names["found"].ranks] == [3, 3]


def test_a_collective_that_still_runs_is_refused(shell_of: Shells) -> None:
    shell = shell_of("torch")
    code = "torch.distributed.all_reduce(x, async_op=True)"
    with pytest.raises(UsageError, match=r"still runs \(async_op=True\)\. Call \.wait\(\) on it"):
        shell.run(f"%fwtime --engines all --quick {code}")
    shell.run(f"%fwtime --engines all --quick -v found {code}.wait()")
    assert len(shell.names["found"].ranks) == 2


@pytest.mark.parametrize("where", ["True", "rank == 1"])
def test_an_engine_that_interrupts_itself_is_named(where: str, shell_of: Shells) -> None:
    shell = shell_of("alone")
    with pytest.raises(UsageError, match=r"engine 1 \(on .*\) was interrupted\.$"):
        shell.run(f"%%fwtime --engines all -n 1 -r 2\nif {where}: raise KeyboardInterrupt")
    shell.run("%fwtime --engines all --quick sum(range(100))")


def test_cpu_time_shows_no_waits(shell_of: Shells) -> None:
    shell = shell_of("torch")
    shell.run("%fwtime --engines all -c --quick -v found step(x)")
    found = shell.names["found"]
    assert (found.waits, found.slowest, found.lost, found.scores) == ((), None, None, ())
    assert "CPU time per call, the slowest of 2 ranks" in text(shell)
    assert "slowest ? CPU time does not show what a rank waits for" in text(shell)


@pytest.mark.parametrize("kind", ["jax", "torch"])
def test_no_thread_of_a_measurement_is_left(kind: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    for _ in range(3):
        shell.run("%fwtime --engines all --quick step(x)")

    def count() -> list[str]:
        import threading

        own = [t for t in threading.enumerate() if t.name.startswith("ipyjaxbench")]
        for thread in own:
            thread.join(60)
        return [thread.name for thread in own if thread.is_alive()]

    assert shell.names["rc"][:].apply_sync(count) == [[], []]


def test_engines_have_the_numbers_that_chose_them(shell_of: Shells) -> None:
    shell = shell_of("alone")
    shell.run("%fwtime --engines 1 --quick -v found sum(range(100))")
    assert shell.names["found"].labels == ("engine 1",)
    assert "engine 1" in text(shell)


def test_no_time_for_engines_is_refused_in_words(shell_of: Shells) -> None:
    shell = shell_of("alone")
    with pytest.raises(UsageError, match="--timeout 0 times one rank alone: leave it out with"):
        shell.run("%fwtime --engines all --timeout 0 sum(range(100))")


def test_what_the_first_call_prints_is_shown_once(shell_of: Shells) -> None:
    shell = shell_of("alone")
    shell.run("%fwtime --engines all -n 3 -r 2 print('hello from', rank)")
    assert shell.text.count("[engine 0]\nhello from 0\n") == 1
    assert shell.text.count("hello") == 2


def test_a_measurement_has_the_name_that_it_was_given(shell_of: Shells) -> None:
    shell = shell_of("alone")
    shell.run("%fwtime -q --engines all --quick --name many sum(range(100))")
    shell.run("%fwtime -q --quick --name one sum(range(100))")
    shell.run("%fwcompare -v compared one many")
    assert [arm.label for arm in shell.names["compared"].sides] == ["one", "many"]


def test_await_is_refused_before_an_engine_is_asked(shell_of: Shells) -> None:
    shell = shell_of("alone")
    with pytest.raises(UsageError, match="await does not work on engines: call asyncio"):
        shell.run("%%fwtime --engines all\nimport asyncio\nawait asyncio.sleep(0.01)")


def test_one_ctrl_c_waits_until_long_steps_meet(tmp_path: Path, shell_of: Shells) -> None:
    shell = shell_of("torch")
    client = shell.names["rc"]
    client[:].push({"late": 4.0}, block=True)
    here = press_ctrl_c_when_reached(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        shell.run(f"%%fwtime --engines all\n{here}\nstep(x)")
    client[:].push({"late": 0.0}, block=True)
    shell.run("%fwtime --engines all --quick -v found step(x)")
    assert len(shell.names["found"].ranks) == 2


_LOSE_AN_ANSWER = """
session = get_ipython().kernel.session
sends = session.send
def send(stream, kind, *args, **options):
    if kind != "apply_reply":
        return sends(stream, kind, *args, **options)
    session.send = sends
session.send = send
"""


def test_ctrl_c_ends_the_wait_for_an_engine_whose_answer_is_lost(shell_of: Shells) -> None:
    """As where Ctrl-C reaches an engine while it answers."""
    shell = shell_of("alone")
    shell.names["rc"][1].execute(_LOSE_AN_ANSWER, block=True)
    threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        shell.run("%fwtime --engines all step(x)")
    shell.run("%fwtime --engines all --quick -v found step(x)")
    assert len(shell.names["found"].ranks) == 2


def test_a_second_ctrl_c_ends_what_waits_in_a_collective(shell: Shell) -> None:
    with engines("torch") as client:
        shell.names["rc"] = client
        client[:].execute("def stuck(x):\n if rank: time.sleep(60)\n torch.distributed.barrier()\n",
                          block=True)  # fmt: skip
        client[:].execute("import time, torch.distributed", block=True)
        for seconds in (3, 6):
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(UsageError, match=r"^engine 0 did not react to Ctrl-C: code"):
            shell.run("%fwtime --engines all stuck(1)")


def test_ctrl_c_ends_the_others_where_one_has_died(shell: Shell, tmp_path: Path) -> None:
    with engines("torch") as client:
        shell.names["rc"] = client
        client[:].execute(
            "import os, time, torch.distributed\n"
            "def dying(x):\n time.sleep(2)\n if rank: os._exit(1)\n torch.distributed.barrier()\n",
            block=True,
        )
        here = press_ctrl_c_when_reached(tmp_path)
        with pytest.raises((UsageError, KeyboardInterrupt)):
            shell.run(f"%%fwtime --engines all\n{here}\ndying(1)")
