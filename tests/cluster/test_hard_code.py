"""Code on engines that ends otherwise than in order, and what it leaves behind."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from IPython.core.error import UsageError

from tests.cluster.engines import engines, press_ctrl_c_when_reached
from tests.shell import Shell

Shells = Callable[[str], Shell]


def works(shell: Shell) -> None:
    """The next measurement is one of all ranks."""
    shell.run("%fwtime --engines all --quick -v found step(x)")
    assert len(shell.names.pop("found").ranks) == 2


@pytest.mark.parametrize("where", ["True", "rank == 1"])
def test_an_engine_that_interrupts_itself_is_named(where: str, shell_of: Shells) -> None:
    shell = shell_of("alone")
    with pytest.raises(UsageError, match=r"engine 1 \(on .*\) was interrupted\.$"):
        shell.run(f"%%fwtime --engines all -n 1 -r 2\nif {where}: raise KeyboardInterrupt")
    works(shell)


def test_no_thread_of_a_measurement_is_left(shell_of: Shells) -> None:
    shell = shell_of("jax")
    for _ in range(2):
        works(shell)

    def count() -> list[str]:
        import threading

        own = [t for t in threading.enumerate() if t.name.startswith("ipyjaxbench")]
        for thread in own:
            thread.join(60)
        return [thread.name for thread in own if thread.is_alive()]

    assert shell.names["rc"][:].apply_sync(count) == [[], []]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("%fwtime --engines all --timeout 0 len('')",
         "--timeout 0 times one rank alone: leave it out with"),
        ("%%fwtime --engines all\nimport asyncio\nawait asyncio.sleep(0.01)",
         "await does not work on engines: call asyncio"),
    ],
)  # fmt: skip
def test_what_does_not_work_on_engines_is_refused(typed: str, told: str, shell_of: Shells) -> None:
    with pytest.raises(UsageError, match=told):
        shell_of("alone").run(typed)


def test_one_ctrl_c_waits_until_long_steps_meet(tmp_path: Path, shell_of: Shells) -> None:
    shell = shell_of("torch")
    client = shell.names["rc"]
    client[:].push({"late": 2.0}, block=True)
    here = press_ctrl_c_when_reached(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        shell.run(f"%%fwtime --engines all\n{here}\nstep(x)")
    client[:].push({"late": 0.0}, block=True)
    works(shell)


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
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        shell.run("%fwtime --engines all step(x)")
    works(shell)


def test_ctrl_c_ends_the_others_where_one_has_died(shell: Shell, tmp_path: Path) -> None:
    with engines("torch") as client:
        shell.names["rc"] = client
        client[:].execute(
            "import os, time, torch.distributed\n"
            "def dying(x):\n time.sleep(1) if rank else None\n if rank: os._exit(1)\n"
            " torch.distributed.barrier()\n",
            block=True,
        )
        here = press_ctrl_c_when_reached(tmp_path)
        with pytest.raises((UsageError, KeyboardInterrupt)):
            shell.run(f"%%fwtime --engines all\n{here}\ndying(1)")
