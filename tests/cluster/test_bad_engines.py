"""What cannot be measured on engines is told in one line, and the next measurement works."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from ipyjaxbench import OptionError
from ipyjaxbench.cluster.time_on_engines import refuse_options
from ipyjaxbench.timing import TimeOptions
from tests.cluster.engines import define_step, engines, press_ctrl_c_when_reached
from tests.cluster.typed import Shells, executed, refused, shown, works
from tests.shell import Shell

#: Hides this package from an engine.
_HIDE = """
import sys
hidden = {n: sys.modules.pop(n) for n in [*sys.modules] if n.partition(".")[0] == "ipyjaxbench"}
class Absent:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "ipyjaxbench":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
absent = Absent()
sys.meta_path.insert(0, absent)
"""
_SHOW = "sys.meta_path.remove(absent); sys.modules.update(hidden); del hidden"
_LOSE_AN_ANSWER = """
session = get_ipython().kernel.session
sends = session.send
def send(stream, kind, *args, **options):
    if kind != "apply_reply":
        return sends(stream, kind, *args, **options)
    session.send = sends
session.send = send
"""


def wait_for_file(path: str) -> None:
    """Keep an engine busy until a file is there."""
    import pathlib

    while not pathlib.Path(path).exists():
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("%fwtime --engines all --fresh step(x)",
         "--fresh works in one process alone, without --engines"),
        ("%fwtime --engines all --device step(x)",
         "--profile works in one process alone, without --engines"),
        ("%fwtime --engines all step(", r"SyntaxError in line 1, 'step\(': '\(' was never closed"),
        ("%fwtime --engines all --timeout 0 step(x)",
         "--timeout 0 times one rank alone: leave it out with"),
        ("%%fwtime --engines all\nimport asyncio\nawait asyncio.sleep(0.01)",
         "await does not work on engines: call asyncio"),
        ("%trace_cached --engines all --signatures step",
         "--signatures works in one process alone, without --engines"),
        ("%trace_cached --engines all --watch on",
         "--watch works in one process alone, without --engines"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused_before_an_engine_is_asked(
    typed: str, told: str, shell_of: Shells
) -> None:
    refused(shell_of("alone"), typed, told)


def test_what_times_one_process_is_refused() -> None:
    refuse_options(TimeOptions())
    values = {"fresh": True, "trace": "step.json.gz", "against": "1"}
    for name in ("fresh", "trace", "profile", "energy", "cold", "memory", "against"):
        with pytest.raises(OptionError, match=f"^--{name} works in one process alone, here$"):
            refuse_options(TimeOptions(**{name: values.get(name, True)}), "here")


def test_an_engine_that_is_busy_is_named_and_is_asked_again(
    shell_of: Shells, tmp_path: Path
) -> None:
    shell = shell_of("alone")
    busy = shell.names["rc"][1].apply_async(wait_for_file, str(tmp_path / "free"))
    told = "engine 1 did not answer within 3 s: busy"
    refused(shell, "%fwtime --engines all --timeout 3 step(x)", told)
    (tmp_path / "free").touch()
    busy.get(60)
    works(shell)


def test_other_versions_of_this_package_or_none_are_named(shell_of: Shells) -> None:
    shell = shell_of("alone")
    engine = shell.names["rc"][1]
    older = "import ipyjaxbench; own, ipyjaxbench.__version__ = ipyjaxbench.__version__, '0.0.1'"
    with executed(engine, older, "ipyjaxbench.__version__ = own"):
        told = r"engine 1 has ipyjaxbench 0\.0\.1, not .*\. Install it there, too\."
        refused(shell, "%fwtime --engines all step(x)", told)
    with executed(engine, _HIDE, _SHOW):
        told = "engine 1 cannot import ipyjaxbench of this version. Install it there"
        refused(shell, "%fwtime --engines all step(x)", told)
    works(shell)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("alone", "engine 1 .*raised NameError: name 'x' is not defined"),
        ("jax", "name 'x' is not defined in rank 1"),
    ],
)
def test_a_name_that_one_engine_lacks_is_named(kind: str, told: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    with executed(shell.names["rc"][1], "kept = x; del x", "x = kept"):
        refused(shell, "%fwtime --engines all step(x)", told)
    works(shell)


@pytest.mark.parametrize(
    ("kind", "number", "rank"),
    [("alone", 1, 1), ("jax", 1, 0), ("jax", 100, 1), ("torch", 1, 1), ("torch", 2, 0)],
)
def test_a_rank_that_raises_is_named(kind: str, number: int, rank: int, shell_of: Shells) -> None:
    shell = shell_of(kind)
    shell.names["rc"][:].push({"fails_at": number, "failing": rank}, block=True)
    told = rf"{'engine' if kind == 'alone' else 'rank'} {rank} \(.*raised ValueError: no data"
    refused(shell, "%fwtime --engines all -n 5 -r 40 step(x)", told)
    shell.names["rc"][:].push({"fails_at": 0}, block=True)
    works(shell)


def test_what_an_engine_by_itself_measured_before_it_raised_is_kept(shell_of: Shells) -> None:
    shell = shell_of("alone")
    shell.names["rc"][:].push({"fails_at": 100, "failing": 1}, block=True)
    shell.run("%fwtime --engines all -n 5 -r 40 -v found step(x)")
    first, second = shell.names["found"].ranks
    assert (len(first.measurement.samples), len(second.measurement.samples) < 40) == (40, True)
    assert "engine 1: " in shown(shell)
    assert "Call 100 raised ValueEr" in shown(shell)


def test_a_part_of_a_job_is_refused(shell_of: Shells) -> None:
    shell, told = shell_of("torch"), "the job has 2 ranks, and rank 1 is not among these engines"
    refused(shell, "%fwtime --engines 0 step(x)", told)
    refused(shell, "%fwdevices --peak --engines 0", told)
    refused(shell, "%fwdevices --peak --engines 7", "--engines 7: there is no engine 7")


def test_an_engine_that_interrupts_itself_is_named(shell_of: Shells) -> None:
    shell = shell_of("alone")
    told = r"engine 1 \(on .*\) was interrupted\.$"
    refused(shell, "%%fwtime --engines all -n 1\nif rank == 1: raise KeyboardInterrupt", told)
    works(shell)


def test_no_thread_of_a_measurement_is_left(shell_of: Shells) -> None:
    shell = shell_of("jax")
    works(shell)

    def count() -> list[str]:
        import threading

        own = [t for t in threading.enumerate() if t.name.startswith("ipyjaxbench")]
        for thread in own:
            thread.join(60)
        return [thread.name for thread in own if thread.is_alive()]

    assert shell.names["rc"][:].apply_sync(count) == [[], []]


# Ctrl-C, and engines that are lost


def test_one_ctrl_c_waits_until_long_steps_meet(tmp_path: Path, shell_of: Shells) -> None:
    shell = shell_of("torch")
    client = shell.names["rc"]
    client[:].push({"late": 1.0}, block=True)
    here = press_ctrl_c_when_reached(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        shell.run(f"%%fwtime --engines all\n{here}\nstep(x)")
    client[:].push({"late": 0.0}, block=True)
    works(shell)


def test_ctrl_c_ends_the_wait_for_an_engine_whose_answer_is_lost(shell_of: Shells) -> None:
    """As where Ctrl-C reaches an engine while it answers."""
    shell = shell_of("alone")
    shell.names["rc"][1].execute(_LOSE_AN_ANSWER, block=True)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        shell.run("%fwtime --engines all step(x)")
    works(shell)


def test_engines_that_have_died_or_were_stopped_are_named(shell: Shell) -> None:
    typed = "%fwtime --engines {} step(x)"
    with engines("alone") as client:
        define_step(client[:], "alone")
        shell.names["rc"] = client
        other = shell.names["other"] = client.cluster.connect_client_sync()
        refused(shell, typed.format("all"), "--engines all: several clients are there.*: rc, other")
        other.close()
        refused(shell, typed.format("other"), "--engines other: no engine is there. Start some: rc")
        del shell.names["other"]
        shell.names["same"] = client  # two names, one client
        code = "if rank: __import__('os')._exit(1)"
        refused(shell, f"%%fwtime --engines all -n 1\n{code}", r"engine 1 \(on .*\) died\.$")
        works(shell)  # those that are left
        stranger = client.cluster.connect_client_sync()
        stranger.cluster = None  # as that of a cluster which another notebook started
        client.cluster.stop_cluster_sync()
        refused(shell, typed.format("all"), "(rc|same): no engine is there. Start some: rc = ")
        shell.names["rc"] = stranger
        told = "engine 0 did not answer within 0.5 s: busy, or cut off"
        refused(shell, typed.format("rc --timeout 0.5"), told)
        stranger.close()
