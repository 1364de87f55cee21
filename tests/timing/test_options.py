"""How long a measurement may take, and how well it is to know its figure."""

import re

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.timing.options import TimeOptions


@pytest.mark.parametrize(
    ("options", "target", "seconds"),
    [
        ({}, 0.02, 2.0),
        ({"aim": "usual"}, 0.02, 2.0),
        ({"aim": "quick"}, 0.05, 0.5),
        ({"aim": "precise"}, 0.005, 10.0),
        ({"usual": 3.0}, 0.02, 3.0),
        ({"usual": 3.0, "aim": "quick"}, 0.05, 0.5),
        ({"budget": 7.0, "usual": 3.0, "aim": "precise"}, 0.005, 7.0),
        ({"budget": 0.0}, 0.02, 0.0),
    ],
)
def test_an_aim_has_a_width_and_a_budget(options: dict, target: float, seconds: float) -> None:
    chosen = TimeOptions(**options)
    assert (chosen.target, chosen.seconds) == (target, seconds)


def test_what_is_not_asked_for_is_as_usual() -> None:
    chosen = TimeOptions()
    assert (chosen.number, chosen.repeat, chosen.clock, chosen.precision) == (
        None,
        None,
        "elapsed",
        3,
    )
    assert (chosen.fresh, chosen.profile, chosen.ops, chosen.restore) == (False, False, False, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 1.5, "number": 3}, "-b cannot be combined with -n or -r"),
        ({"budget": 1.5, "repeat": 3}, "-b cannot be combined with -n or -r"),
        ({"aim": "exact"}, "aim='exact': must be one of 'quick', 'usual', 'precise'"),
        ({"precision": 16}, "precision=16: must be a whole number from 1 to 15"),
    ],
)
def test_what_breaks_a_rule_is_refused(options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        TimeOptions(**options)
