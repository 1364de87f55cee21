"""Which engines a user names: all, some by number, or those of a client or a view."""

from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench import OptionError
from ipyjaxbench.cluster.find_engines import find_engines
from tests.cluster.typed import refused
from tests.shell import Shell


@pytest.fixture
def names(started: Callable[[str], Any]) -> dict[str, Any]:
    """A client of two engines, and views of it."""
    rc = started("alone")
    return {"rc": rc, "view": rc[:], "one": rc[1], "balanced": rc.load_balanced_view(), "n": 3}


@pytest.mark.parametrize(
    ("chosen", "numbers"),
    [
        ("all", (0, 1)), ("0:2", (0, 1)), (":", (0, 1)), ("::2", (0,)), ("1:", (1,)),
        ("0,1", (0, 1)), ("1,0,1", (1, 0)), ("-1", (1,)),
        ("rc", (0, 1)), ("view", (0, 1)), ("one", (1,)), ("balanced", (0, 1)),
    ],
)  # fmt: skip
def test_they_are_chosen(chosen: str, numbers: tuple[int, ...], names: dict[str, Any]) -> None:
    found = find_engines(chosen, names)
    assert found.numbers == numbers
    assert found.labels == tuple(f"engine {number}" for number in numbers)
    assert len(find_engines(chosen, {**names, "same": names["rc"]})) == len(numbers)


@pytest.mark.parametrize(("chosen", "told"), [
    ("7", "--engines 7: there is no engine 7. The engines are 0, 1."),
    ("0,7", "--engines 0,7: there is no engine 7. The engines are 0, 1."),
    ("-3", "--engines -3: there is no engine -3. The engines are 0, 1."),
    ("5:", "--engines 5: chooses none. The engines are 0, 1."),
    ("x", "--engines x: no variable has this name. Type all, 0:4, 0,2 or the name of"),
    ("n", "--engines n: has type int; must be a client or a view of ipyparallel, or a client"),
])  # fmt: skip
def test_those_that_are_not_there_are_named(chosen: str, told: str, names: dict[str, Any]) -> None:
    with pytest.raises(OptionError) as refusal:
        find_engines(chosen, names)
    assert str(refusal.value).startswith(told)


@pytest.mark.parametrize("typed", ["%fwtime --engines all f(x)", "%fwdevices --engines 0:2 x"])
def test_without_a_client_it_is_said_how_to_start_one(typed: str, shell: Shell) -> None:
    chosen = typed.split()[2]
    refused(shell, typed, f"--engines {chosen}: there is no client. Start engines: rc = ")
