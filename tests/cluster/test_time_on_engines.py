"""`%fwtime --engines` on real engines of ipyparallel: alone, and as ranks of a job."""

import json
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.cluster import JobMeasurement
from tests.shell import Shell

KINDS = ("alone", "jax", "torch")
Shells = Callable[[str], Shell]


def names_on(client: Any) -> list[Any]:
    """The variables of all engines, each by where it lives; those of IPython are left out."""

    def look() -> dict[str, int]:
        import sys

        names = vars(sys.modules["__main__"])
        return {name: id(value) for name, value in names.items() if not name.startswith("_")}

    return client[:].apply_async(look).get(30)  # type: ignore[no-any-return]


def shown(shell: Shell) -> str:
    """The report, each run of blanks as one."""
    (output,) = shell.shown
    return " ".join(output.data["text/plain"].split())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", ["all", "0:2", ":", "0,1", "1,0", "view", "rc"])
def test_however_engines_are_chosen_all_are_timed(kind: str, chosen: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    client = shell.names["rc"]
    shell.names["view"] = client[:]
    shell.run(f"%fwtime --engines {chosen} --quick -v found step(x)")
    found = shell.names["found"]
    assert isinstance(found, JobMeasurement)
    assert found.job == ("" if kind == "alone" else kind)
    assert [each.host for each in found.ranks] == [socket.gethostname()] * 2
    pids = client[:].apply_async(os.getpid).get(30)
    chosen_pids = pids[::-1] if chosen == "1,0" and kind == "alone" else pids
    assert [each.pid for each in found.ranks] == chosen_pids
    text = shown(shell)
    assert all(f"{'engine' if kind == 'alone' else 'rank'} {number} " in text for number in (0, 1))
    if kind != "alone":
        calls = {sum(calls for calls, _ in each.measurement.batches) for each in found.ranks}
        assert len(calls) == 1  # in step


@pytest.mark.parametrize("kind", KINDS)
def test_variables_of_engines_stay_as_they_are_but_for_what_the_code_binds(
    kind: str, shell_of: Shells
) -> None:
    shell = shell_of(kind)
    client = shell.names["rc"]
    before = names_on(client)
    shell.run("%fwtime --engines all --quick made = step(x)")
    after = names_on(client)
    for old, new in zip(before, after, strict=True):
        assert {name for name in new if name not in old} == {"made"}
        assert {name: new[name] for name in old} == old
    assert "made" not in shell.names
    client[:].execute("del made", block=True)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_measured_is_plain_data(kind: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    shell.run("%fwtime -q --engines all --quick -v found step(x)")
    found = shell.names["found"]
    assert JobMeasurement.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert [row["rank"] for row in found.rows()] == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_that_cannot_be_pickled_does_not_travel(kind: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    lock = "import threading\nlock = threading.Lock()\nlambda: lock"
    shell.run(f"%%fwtime --engines all --quick -v found\nstep(x)\n{lock}")
    assert len(shell.names["found"].ranks) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_line_of_a_cell_prepares_each_call(kind: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    shell.run("%%fwtime --engines all --quick -v found y = x\nstep(y)")
    assert len(shell.names["found"].ranks) == 2
