"""How long a measurement may take, and how well it is to know its figure."""

import dataclasses
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
    assert (chosen.number, chosen.repeat) == (None, None)
    assert (chosen.clock, chosen.precision) == ("elapsed", 3)
    assert (chosen.fresh, chosen.profile, chosen.ops, chosen.restore) == (0, False, False, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 1.5, "number": 3}, "number=3 and budget=1.5 cannot be combined: leave out one"),
        ({"budget": 1.5, "repeat": 3}, "repeat=3 and budget=1.5 cannot be combined: leave out one"),
        ({"aim": "precise", "number": 3}, "number=3 and aim='precise' cannot be combined"),
        ({"aim": "exact"}, "aim='exact': must be 'usual', 'quick' or 'precise'"),
        ({"precision": 16}, "precision=16: must be a whole number from 1 to 15"),
        ({"number": "5"}, "number='5': must be a whole number, 1 or more, for example number=5"),
        ({"repeat": 2.5}, "repeat=2.5: must be a whole number, 1 or more, for example repeat=5"),
        ({"budget": -1}, "budget=-1: must be a number of seconds, 0 or more, for example budget=5"),
        ({"clock": None}, "clock=None: must be 'elapsed', 'calendar' or 'cpu'"),
        ({"fresh": 10**8}, "fresh=100000000: must be a whole number from 1 to 1000, for example"),
        ({"profile": 1}, "profile=1: must be False or True"),
        ({"restore": "yes"}, "restore='yes': must be True or False"),
        ({"name": "last"}, "name='last': must be a name other than last and best"),
        ({"against": 5}, "against=5: must be a string that is not empty, for example against"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        TimeOptions(**options)


def test_every_field_has_a_rule() -> None:
    for name in (each.name for each in dataclasses.fields(TimeOptions)):
        with pytest.raises(OptionError, match=f"^{name}=.*: must be "):
            TimeOptions(**{name: object()})
