"""`%fwtime --engines` on real engines of ipyparallel: alone, and as ranks of a job."""

import json
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench.cluster import JobMeasurement
from tests.shell import Shell

KINDS = ("alone", "jax", "torch")
CHOSEN = ("all", "0:2", ":", "0,1", "1,0", "view", "rc")
Shells = Callable[[str], Shell]


def names_on(client: Any) -> list[Any]:
    """The variables of all engines, each by where it lives; those of IPython are left out."""

    def look() -> dict[str, int]:
        import sys

        names = vars(sys.modules["__main__"])
        return {name: id(value) for name, value in names.items() if not name.startswith("_")}

    return client[:].apply_async(look).get(30)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [*(("alone", chosen) for chosen in CHOSEN), ("jax", "1,0"), ("torch", "all")],
)
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
    text = shell.shown[-1].data["text/plain"]
    assert all(f"{'engine' if kind == 'alone' else 'rank'} {number} " in text for number in (0, 1))
    if kind != "alone":
        calls = {sum(calls for calls, _ in each.measurement.batches) for each in found.ranks}
        assert len(calls) == 1  # in step
    assert JobMeasurement.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert [row["rank"] for row in found.rows()] == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_with_a_set_up_binds_names_there_and_its_output_does_not_travel(
    kind: str, shell_of: Shells
) -> None:
    shell = shell_of(kind)
    client = shell.names["rc"]
    before = names_on(client)
    output = "lambda lock=__import__('threading').Lock(): lock"  # which cannot be pickled
    shell.run(f"%%fwtime --engines all --quick -v found y = x\nmade = step(y)\n{output}")
    after = names_on(client)
    client[:].execute("del made; globals().pop('y', None)", block=True)
    assert len(shell.names["found"].ranks) == 2
    for old, new in zip(before, after, strict=True):
        assert {name for name in new if name not in old} - {"y"} == {"made"}
        assert {name: new[name] for name in old} == old
    assert "made" not in shell.names


def test_engines_have_the_numbers_that_chose_them(shell_of: Shells) -> None:
    shell = shell_of("alone")
    shell.run("%fwtime --engines 1 --quick -v found sum(range(100))")
    assert shell.names["found"].labels == ("engine 1",)
    assert "engine 1" in shell.shown[-1].data["text/plain"]


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


def test_a_collective_that_still_runs_is_refused(shell_of: Shells) -> None:
    shell = shell_of("torch")
    code = "torch.distributed.all_reduce(x, async_op=True)"
    with pytest.raises(UsageError, match=r"still runs \(async_op=True\)\. Call \.wait\(\) on it"):
        shell.run(f"%fwtime --engines all --quick {code}")
    shell.run(f"%fwtime --engines all --quick -v found {code}.wait()")
    assert len(shell.names["found"].ranks) == 2
