"""What ``--against`` names: a measurement of this session, or one of the history."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ipyjaxbench.errors import OptionError
from ipyjaxbench.graphs import ProgramComparison, compare_programs
from ipyjaxbench.host import Clock
from ipyjaxbench.records.entry import HistoryEntry, thin
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.programs import read_program
from ipyjaxbench.records.store import read_store
from ipyjaxbench.timing import Against, Measurement, TimeOptions, summarize_samples as summarize
from ipyjaxbench.validation import NEWEST_OR_FASTEST, kept_name

_MAX_NAMES = 8  # that an error lists
#: Verdicts on figures that another one can be held against.
_SOUND = ("QUIET", "OK", "NOISY", "FEW")
#: What a clock measures, and the option that asks for it.
_CLOCKS = {
    "elapsed": "elapsed time (without -t and -c)",
    "calendar": "calendar time (-t)",
    "cpu": "CPU time (-c)",
}
_NONE: Mapping[str, str] = MappingProxyType({})
#: A measurement of this session, or those of the history that may be meant, the newest first.
Candidates = Measurement | tuple[HistoryEntry, ...]


def find_baseline(
    options: TimeOptions, code: str, measurements: dict[str, Measurement]
) -> Candidates:
    """Return what ``--against`` may mean, before anything is measured.

    Args:
        options: of the magic.
        code: that is to be measured.
        measurements: of this session, by name.

    Raises:
        OptionError: no result was kept under that name.
    """
    name = options.against
    if name is None:
        return ()
    kept = kept_name(name)
    if kept in measurements and measurements[kept].clock == options.clock:
        return measurements[kept]
    entries = read_store().entries
    candidates = _candidates(entries, options, code)
    if candidates or name in NEWEST_OR_FASTEST:
        return candidates
    clocks = {e.clock for e in entries if e.label and e.name == kept}
    clocks |= {measurements[kept].clock} if kept in measurements else set()
    if others := sorted((clocks & _CLOCKS.keys()) - {options.clock}):
        there = " and ".join(_CLOCKS[clock] for clock in others)
        here = _CLOCKS[options.clock]
        raise OptionError(
            f"--against {name}: that is {there}, but this is {here}. Use the same clock for both."
        )
    raise OptionError(_unknown(name, [*measurements, *(e.name for e in entries if e.label)]))


def _candidates(
    entries: Sequence[HistoryEntry], options: TimeOptions, code: str
) -> tuple[HistoryEntry, ...]:
    """Return the newest entry of a name, or all of the same code that have a figure."""
    comparable = [e for e in entries if e.clock == options.clock]
    if (name := options.against) is not None and name not in NEWEST_OR_FASTEST:
        return tuple(e for e in comparable if e.label and e.name == kept_name(name))[:1]
    label = kept_name(options.name or "")
    alone = (e for e in comparable if not e.at)
    same = (e for e in alone if (e.label and e.name == label if label else e.code == code))
    return tuple(e for e in same if e.figure.verdict in _SOUND)


def choose_baseline(
    m: Measurement,
    name: str,
    base: Candidates,
    revision: str,
    programs: Mapping[str, str] = _NONE,
    kept: Mapping[str, str] = _NONE,
) -> Against:
    """Return the measurement that is meant, and what is not the same now.

    Args:
        m: the new measurement; the last or the best run is one of the same data.
        name: as typed.
        base: what it may mean.
        revision: of the code in Git.
        programs: texts of the compiled programs that the code calls now.
        kept: digests of those of a measurement of this session.
    """
    here = Environment.here(m, revision)
    if isinstance(base, Measurement):
        before = Environment.here(base, revision)
        picoseconds, _ = thin(base.batches, base.rounds)
        compared, unknown = _compare_programs(kept, programs)
        differs = before.differences(here)
        return Against(name, summarize(base), None, differs, picoseconds, compared, unknown)
    if name in NEWEST_OR_FASTEST:
        base = tuple(e for e in base if e.environment.data == here.data)
    if not base:
        return Against(name)
    entry = min(base, key=lambda e: e.median) if name == "best" else base[0]
    age = max(Clock.calendar().now() * 1e-9 - entry.when, 0.0)
    differs = entry.environment.differences(here)
    compared, unknown = _compare_programs(entry.programs, programs)
    return Against(name, entry.figure, age, differs, entry.picoseconds, compared, unknown)


def _compare_programs(
    digests: Mapping[str, str], now: Mapping[str, str]
) -> tuple[tuple[ProgramComparison, ...], str]:
    """Return the programs that are known of both times, or why there are none, in words."""
    kept = {name: read_program(digest) for name, digest in digests.items()}
    compared = tuple(
        compare_programs(name, before, now[name])
        for name, before in kept.items()
        if before is not None and name in now
    )
    if compared or not (kept or now):
        return compared, ""
    if not digests:
        return (), "that run kept no compiled program; %fwtime with --name or --against does"
    if not now:
        return (), "no compiled program of this call is in memory"
    return (), "what that run kept has been removed, or is of other functions"


def _unknown(name: str, existing: Iterable[str]) -> str:
    names = list(dict.fromkeys(existing))
    if not names:
        return f"--against {name}: no result was kept by name yet. First type %fwtime --name {name}"
    near = difflib.get_close_matches(name, names, 1, 0.6)
    hint = f"Did you mean {near[0]}? " if near else ""
    shown = ", ".join(names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
    return (
        f"--against {name}: there is no such name. {hint}Names: {shown}; or last and best, for"
        " runs of the same code."
    )
