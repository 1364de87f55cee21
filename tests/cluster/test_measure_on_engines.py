"""`measure(f, x, engines=...)`: a function and its arguments are sent to real engines."""

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench import OptionError, Options, measure
from ipyjaxbench.cluster import JobMeasurement, RankError

_QUICK = Options(number=2, repeat=2)


@pytest.fixture
def alone(started: Callable[[str], Any]) -> Any:
    """Two engines without a job."""
    return started("alone")


def total(values: Any, scale: int = 1) -> int:
    """Add numbers up."""
    return scale * int(sum(values))


def test_the_call_is_timed_on_each_engine(alone: Any) -> None:
    found = measure(total, [1, 2, 3], scale=2, engines=alone, timer=_QUICK)
    assert isinstance(found, JobMeasurement)
    assert found.code == "total(values, scale=scale)"
    assert [len(each.measurement.samples) for each in found.ranks] == [2, 2]
    assert len(measure(total, [1], engines=alone[[1]], timer=_QUICK).ranks) == 1


def test_globals_of_a_sent_function_are_those_of_the_engine(alone: Any) -> None:
    """A function of the notebook finds its global names where it runs, as with ipyparallel."""
    alone[:].push({"factor": 3}, block=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def scaled(x):\n    return factor * x", names)
    assert len(measure(names["scaled"], 2, engines=alone, timer=_QUICK).ranks) == 2


def test_a_module_that_engines_import_gets_no_names_of_theirs(alone: Any) -> None:
    """A function that was sent by its name has its module's global names, and no others."""
    # It reads a method of this name; its module has nothing that is called so.
    munge = textwrap.TextWrapper._munge_whitespace
    assert "expandtabs" in munge.__code__.co_names
    alone[:].push({"expandtabs": "the user's"}, block=True)
    found = measure(munge, textwrap.TextWrapper(), "x", engines=alone, timer=_QUICK)
    assert len(found.ranks) == 2
    names = alone[:].apply_sync(lambda: [*vars(__import__("textwrap"))])
    assert all("expandtabs" not in own for own in names)


def test_a_failure_names_the_engines_and_the_next_call_works(alone: Any) -> None:
    with pytest.raises(RankError, match=r"engine 0 .*, engine 1 .* raised TypeError"):
        measure(total, 3, engines=alone, timer=_QUICK)
    assert len(measure(total, [1], engines=alone, timer=_QUICK).ranks) == 2


def test_what_is_no_client_or_an_option_of_one_process_is_refused(alone: Any) -> None:
    with pytest.raises(OptionError, match="engines=int: has type int; must be a client"):
        measure(total, [1], engines=3)
    with pytest.raises(OptionError, match="--fresh"):
        measure(total, [1], engines=alone, timer=Options(fresh=True))


def test_an_argument_of_the_function_is_passed_on() -> None:
    """A function may have an argument of this name, if it is no client."""
    assert measure(lambda engines: engines * 2, engines=3, timer=_QUICK).repeat == 2
