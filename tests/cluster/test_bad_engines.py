"""What cannot be measured on engines is told in one line, and the next measurement works."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench.cluster import dispatch
from tests.cluster.engines import define_step, engines
from tests.shell import Shell

Shells = Callable[[str], Shell]
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


def refused(shell: Shell, typed: str, told: str) -> None:
    """A cell raises one line, which begins with what is to be told."""
    with pytest.raises(UsageError, match=rf"^{told}") as raised:
        shell.run(typed)
    assert "\n" not in str(raised.value)


def wait_for_file(path: str) -> None:
    """Keep an engine busy until a file is there."""
    import pathlib

    while not pathlib.Path(path).exists():
        time.sleep(0.01)


def works(shell: Shell) -> None:
    """The next measurement on all engines gives a table."""
    shell.run("%fwtime --engines all -b 0.05 -v found step(x)")
    assert len(shell.names.pop("found").ranks) == len(shell.names["rc"].ids)


@contextmanager
def executed(engine: Any, before: str, after: str) -> Iterator[None]:
    """Run code on an engine, and other code afterwards, which puts things right."""
    engine.execute(before, block=True)
    try:
        yield
    finally:
        engine.execute(after, block=True)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("%fwtime --engines all f(x)", "--engines all: there is no client. Start engines: rc = "),
        ("%fwdevices --engines 0:2 x", "--engines 0:2: there is no client"),
        ("%fwdevices --peak --engines nix",
         "--engines nix: no variable has this name. Type all, 0:4, 0,2 or"),
        ("%fwtime --engines number f(x)",
         "--engines number: has type int; must be a client or a view of ipyparallel"),
    ],
)  # fmt: skip
def test_without_a_client_it_is_said_how_to_start_one(typed: str, told: str, shell: Shell) -> None:
    shell.names["number"] = 3
    refused(shell, typed, told)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ("7", "--engines 7: there is no engine 7. The engines are 0, 1."),
        ("0,7", "--engines 0,7: there is no engine 7. The engines are 0, 1."),
        ("5:", "--engines 5: chooses none. The engines are 0, 1."),
        ("-3", "--engines -3: there is no engine -3. The engines are 0, 1."),
        ("1:1", "--engines 1:1 chooses none. The engines are 0, 1."),
        ("x", "--engines x: no variable has this name"),
    ],
)
def test_engines_that_are_not_there_are_named(chosen: str, told: str, shell_of: Shells) -> None:
    refused(shell_of("alone"), f"%fwtime --engines {chosen} step(x)", told)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--fresh step(x)", "--fresh works in one process alone, without --engines"),
        ("--profile step(x)", "--profile works in one process alone, without --engines"),
        ("--device step(x)", "--profile works in one process alone, without --engines"),
        ("--against 1 step(x)", "--against works in one process alone, without --engines"),
        ("step(", r"SyntaxError in line 1, 'step\(': '\(' was never closed"),
        ("", "there is no code to time"),
        ("'step'", "'step' is a string, so nothing would be timed"),
    ],
)
def test_what_cannot_run_is_refused_before_an_engine_is_asked(
    typed: str, told: str, shell_of: Shells
) -> None:
    refused(shell_of("alone"), f"%fwtime --engines all {typed}", told)


def test_clients_that_are_several_closed_or_whose_cluster_has_stopped(shell: Shell) -> None:
    with engines("alone") as client:
        shell.names["rc"] = client
        define_step(client[:], "alone")
        other = shell.names["other"] = client.cluster.connect_client_sync()
        typed = "%fwtime --engines {} step(x)"
        refused(shell, typed.format("all"), "--engines all: several clients are there.*: rc, other")
        shell.names["same"] = client
        stranger = client.cluster.connect_client_sync()
        stranger.cluster = None  # as that of a cluster which another notebook started
        other.close()
        refused(shell, typed.format("other"), "--engines other: no engine is there. Start some: rc")
        del shell.names["other"], shell.names["rc"]
        shell.names["rc"] = client  # two names, one client
        works(shell)
        client.cluster.stop_cluster_sync()
        refused(shell, typed.format("all"), "(rc|same): no engine is there. Start some: rc = ")
        shell.names["rc"] = stranger
        del shell.names["same"]
        told = "engine 0, engine 1 did not answer within 1 s: busy, or cut off"
        refused(shell, typed.format("all --timeout 1"), told)
        stranger.close()


def test_an_engine_that_is_busy_is_named_and_is_asked_again(
    shell_of: Shells, tmp_path: Path
) -> None:
    shell = shell_of("alone")
    busy = shell.names["rc"][1].apply_async(wait_for_file, str(tmp_path / "free"))
    told = "engine 1 did not answer within 1 s: busy"
    refused(shell, "%fwtime --engines all --timeout 1 step(x)", told)
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


def test_a_name_may_be_lacking_where_it_is_not_read(shell_of: Shells) -> None:
    shell = shell_of("torch")
    with executed(shell.names["rc"][0], "told = print", "del told"):
        shell.run("%%fwtime --engines all --quick -v found\nstep(x)\nif rank == 0: told(end='')")
    assert len(shell.names["found"].ranks) == 2


@pytest.mark.parametrize(
    ("kind", "number", "rank"),
    [("alone", 1, 1), ("jax", 1, 0), ("jax", 2, 1), ("jax", 100, 1), ("torch", 1, 1),
     ("torch", 2, 0), ("torch", 100, 0)],
)  # fmt: skip
def test_a_rank_that_raises_is_named(kind: str, number: int, rank: int, shell_of: Shells) -> None:
    shell = shell_of(kind)
    shell.names["rc"][:].push({"fails_at": number, "failing": rank}, block=True)
    label = "engine" if kind == "alone" else "rank"
    refused(
        shell, "%fwtime --engines all -n 5 -r 40 step(x)",
        rf"{label} {rank} \(.*raised ValueError: no data",
    )  # fmt: skip
    shell.names["rc"][:].push({"fails_at": 0}, block=True)
    works(shell)


@pytest.mark.parametrize(
    ("number", "told"), [(2, "the second call raised ValueError"), (100, "Call 100 raised ValueEr")]
)
def test_what_an_engine_by_itself_measured_before_it_raised_is_kept(
    number: int, told: str, shell_of: Shells
) -> None:
    shell = shell_of("alone")
    shell.names["rc"][:].push({"fails_at": number, "failing": 1}, block=True)
    shell.run("%fwtime --engines all -n 5 -r 40 -v found step(x)")
    first, second = shell.names["found"].ranks
    assert (len(first.measurement.samples), len(second.measurement.samples) < 40) == (40, True)
    text = " ".join(shell.shown[-1].data["text/plain"].split())
    assert "engine 1: " in text
    assert told in text


def test_ranks_that_wait_in_a_collective_for_one_that_raised_are_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_GRACE_SECONDS", 0.5)  # they never come
    with engines("torch") as client:
        shell.names["rc"] = client
        define_step(client[:], "torch")
        client[:].execute("def bad(x):\n if rank: raise ValueError('no data')\n return step(x)",
                          block=True)  # fmt: skip
        refused(
            shell, "%fwtime --engines all bad(x)",
            r"rank 1 \(engine 1 on .*\) raised ValueError: no data\. rank 0 \(engine 0 on .*\) is"
            r" still in its call, which waits for the others and cannot be ended\. Restart the",
        )  # fmt: skip


@pytest.mark.parametrize(("kind", "chosen", "absent"), [("jax", 1, 0), ("torch", 0, 1)])
def test_a_part_of_a_job_is_refused(kind: str, chosen: int, absent: int, shell_of: Shells) -> None:
    shell = shell_of(kind)
    told = f"the job has 2 ranks, and rank {absent} is not among these engines"
    refused(shell, f"%fwtime --engines {chosen} step(x)", told)
    refused(shell, f"%fwdevices --peak --engines {chosen}", told)
