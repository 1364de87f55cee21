"""What ``--against`` names: a measurement of this session, or one of the history."""

import difflib
from collections.abc import Iterable

from ipyjaxbench.errors import OptionError
from ipyjaxbench.host import Clock
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import HistoryEntry
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.query import candidates, chosen_of
from ipyjaxbench.timing import Against, Measurement, TimeOptions
from ipyjaxbench.timing import summarize_samples as summarize

_MOST_NAMES = 8
#: What a clock measures, and the option that asks for it.
_CLOCKS = {
    "elapsed": "elapsed time (without -t and -c)",
    "calendar": "calendar time (-t)",
    "cpu": "CPU time (-c)",
}
Base = Measurement | tuple[HistoryEntry, ...]


def find(chosen: TimeOptions, code: str, kept: dict[str, Measurement]) -> Base:
    """Return what may be meant, before anything is measured.

    Args:
        chosen: the options.
        code: that is to be measured.
        kept: measurements of this session by name.

    Returns:
        The one of this session by that name, else those of the history.

    Raises:
        OptionError: nothing was kept under that name.
    """
    name = chosen.against
    if name is None:
        return ()
    if name in kept and kept[name].clock == chosen.clock:
        return kept[name]
    past = store.read()
    found = candidates(past, name, label=chosen.name or "", code=code, clock=chosen.clock)
    if not found and name not in ("last", "best"):
        clocks = {e.clock for e in past.entries if e.label == name}
        clocks |= {kept[name].clock} if name in kept else set()
        if others := sorted((clocks & _CLOCKS.keys()) - {chosen.clock}):
            there = " and ".join(_CLOCKS[clock] for clock in others)
            here = _CLOCKS[chosen.clock]
            raise OptionError(f"--against {name}: that is {there}, this {here}: measure both alike")
        raise OptionError(_unknown(name, [*kept, *(e.label for e in past.entries if e.label)]))
    return found


def choose(m: Measurement, name: str, base: Base, revision: str) -> Against:
    """Return the measurement that is meant, and what is not the same now.

    Args:
        m: the new measurement.
        name: as typed.
        base: what it may mean.
        revision: of the code in Git.
    """
    here = Environment.here(m, revision)
    if isinstance(base, Measurement):
        before = Environment.here(base, revision)
        return Against(name, summarize(base), None, before.differences(here))
    found = chosen_of(base, name, here.data)
    if found is None:
        return Against(name)
    age = max(Clock.calendar().now() * 1e-9 - found.when, 0.0)
    return Against(name, found.figure, age, found.environment.differences(here))


def _unknown(name: str, known: Iterable[str]) -> str:
    names = list(dict.fromkeys(known))
    if not names:
        return f"--against {name}: nothing was kept under a name yet; type %fwtime --name {name}"
    near = difflib.get_close_matches(name, names, 1, 0.6)
    hint = f"did you mean {near[0]}? " if near else ""
    shown = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return f"--against {name}: {hint}names are {shown}; last and best are of the same code"
