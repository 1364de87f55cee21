"""`%fwtime --engines` and `measure(f, x, engines=...)` on real engines: alone, and as ranks."""

import json
import os
import socket
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench import OptionError, Options, measure
from ipyjaxbench.cluster import JobMeasurement, RankError
from tests.cluster.typed import Shells, refused, shown

_TWICE = Options(number=2, repeat=2)


def names_on(client: Any) -> list[Any]:
    """The variables of all engines, each by where it lives; those of IPython are left out."""

    def look() -> dict[str, int]:
        import sys

        names = vars(sys.modules["__main__"])
        return {name: id(value) for name, value in names.items() if not name.startswith("_")}

    return client[:].apply_async(look).get(30)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("kind", "chosen"), [("alone", "1,0"), ("jax", "1,0"), ("torch", "all")])
def test_all_engines_are_timed_in_their_own_names(kind: str, chosen: str, shell_of: Shells) -> None:
    shell = shell_of(kind)
    client = shell.names["rc"]
    before = names_on(client)
    result = "lambda lock=__import__('threading').Lock(): lock"  # which cannot be pickled
    shell.run(f"%%fwtime --engines {chosen} -b 0.05 -v found y = x\nmade = step(y)\n{result}")
    after = names_on(client)
    client[:].execute("del made; globals().pop('y', None)", block=True)
    found = shell.names["found"]
    assert isinstance(found, JobMeasurement)
    assert found.job == ("" if kind == "alone" else kind)
    assert [each.host for each in found.ranks] == [socket.gethostname()] * 2
    pids = client[:].apply_async(os.getpid).get(30)
    assert [each.pid for each in found.ranks] == (pids[::-1] if kind == "alone" else pids)
    text = shell.shown[-1].data["text/plain"]
    assert all(f"{'engine' if kind == 'alone' else 'rank'} {number} " in text for number in (0, 1))
    calls = {sum(calls for calls, _ in each.measurement.batches) for each in found.ranks}
    assert kind == "alone" or len(calls) == 1  # in step
    assert JobMeasurement.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert [row["rank"] for row in found.rows()] == [0, 1]
    for old, new in zip(before, after, strict=True):
        assert {name for name in new if name not in old} - {"y"} == {"made"}
        assert {name: new[name] for name in old} == old
    assert "made" not in shell.names


def test_an_engine_has_the_number_that_chose_it_and_its_figure_the_name_it_was_given(
    shell_of: Shells,
) -> None:
    shell = shell_of("alone")
    shell.run("%fwtime --engines 1 -n 2 -r 2 --name many -v found sum(range(100))")
    assert shell.names["found"].labels == ("engine 1",)
    assert "engine 1" in shown(shell)
    shell.run("%fwtime -q --quick --name one sum(range(100))")
    shell.run("%fwcompare -v compared one many")
    assert [arm.label for arm in shell.names["compared"].sides] == ["one", "many"]


def test_what_the_first_call_prints_is_shown_once(shell_of: Shells) -> None:
    shell = shell_of("alone")
    shell.run("%fwtime --engines all -n 3 -r 2 print('hello from', rank)")
    assert shell.text.count("[engine 0]\nhello from 0\n") == 1
    assert shell.text.count("hello") == 2


def test_a_collective_that_still_runs_is_refused(shell_of: Shells) -> None:
    shell = shell_of("torch")
    code = "torch.distributed.all_reduce(x, async_op=True)"
    told = r".*still runs \(async_op=True\)\. Call \.wait\(\) on it"
    refused(shell, f"%fwtime --engines all -b 0.05 {code}", told)
    shell.run(f"%fwtime --engines all -b 0.05 -v found {code}.wait()")
    assert len(shell.names["found"].ranks) == 2


# A function and its arguments are sent


def total(values: Any, scale: int = 1) -> int:
    """Add numbers up."""
    return scale * int(sum(values))


def test_a_call_is_timed_on_each_engine(started: Callable[[str], Any]) -> None:
    alone = started("alone")
    with pytest.raises(RankError, match=r"engine 0 .*, engine 1 .* raised TypeError"):
        measure(total, 3, engines=alone, timer=_TWICE)
    found = measure(total, [1, 2, 3], scale=2, engines=alone, timer=_TWICE)
    assert isinstance(found, JobMeasurement)
    assert found.code == "total(values, scale=scale)"
    assert [len(each.measurement.samples) for each in found.ranks] == [2, 2]
    assert len(measure(total, [1], engines=alone[[1]], timer=_TWICE).ranks) == 1


def test_global_names_of_a_sent_function_are_those_of_the_engine(
    started: Callable[[str], Any],
) -> None:
    """As with ipyparallel; a function of a module that is there has its module's, and no others."""
    alone = started("alone")
    alone[:].push({"factor": 3, "expandtabs": "the user's"}, block=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def scaled(x):\n    return factor * x", names)
    assert len(measure(names["scaled"], 2, engines=alone, timer=_TWICE).ranks) == 2
    # It reads a method of this name; its module has nothing that is called so.
    munge = textwrap.TextWrapper._munge_whitespace
    assert "expandtabs" in munge.__code__.co_names
    found = measure(munge, textwrap.TextWrapper(), "x", engines=alone, timer=_TWICE)
    assert len(found.ranks) == 2
    of_module = alone[:].apply_sync(lambda: [*vars(__import__("textwrap"))])
    assert all("expandtabs" not in own for own in of_module)


def test_what_is_no_client_is_an_argument_of_the_function_or_refused(
    started: Callable[[str], Any],
) -> None:
    assert measure(lambda engines: engines * 2, engines=3, timer=_TWICE).repeat == 2
    with pytest.raises(OptionError, match="engines=int: has type int; must be a client"):
        measure(total, [1], engines=3)
    with pytest.raises(OptionError, match="--fresh"):
        measure(total, [1], engines=started("alone"), timer=Options(fresh=True))
