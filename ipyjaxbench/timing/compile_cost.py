"""What compiling cost: the programs of a call, a cold call, and the calls that pay it back."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ipyjaxbench import units
from ipyjaxbench.frameworks import UNNAMED, Program
from ipyjaxbench.record_types import NonNegativeFloat
from ipyjaxbench.timing.compile_passes import CompilePasses

_PHASES = ("trace", "lower", "compile", "cache load")  # in the order in which they happen
_MAX_NAMED_PROGRAMS = 4
_DIFFERENT_RATIO = 1.25  # times: from there on two figures are apart, or move too much to tell
_APART_RATIO = 1.1  # times: from there on what each cold call compiled differs
_UNTOUCHED = "your caches are untouched"
#: Origin -> label of its row, and what ends the row.
_ROWS = {
    "compiled": ("compiled", ""),
    "disk cache": ("loaded", " from the disk cache"),
    "traced": ("traced", ""),
}


@dataclass(frozen=True)
class Recompilation:
    """One of several cold calls, and what it compiled beside what was compiled before."""

    seconds: NonNegativeFloat  # the cold call
    # seconds of a later call of what it compiled, by the fastest sample of each round
    rounds: tuple[NonNegativeFloat, ...]

    @property
    def later(self) -> float:
        """Seconds of a later call of what was compiled, by the fastest sample."""
        return min(self.rounds)

    def is_slower(self, other: "Recompilation") -> bool:
        """Whether its calls took longer than another program's in each round, by a tenth."""
        pairs = zip(self.rounds, other.rounds, strict=False)
        return all(own > _APART_RATIO * others for own, others in pairs)


@dataclass(frozen=True)
class ColdCallResult:
    """A call for which nothing was used that had been compiled before."""

    seconds: NonNegativeFloat | None  # the call, waited for; None where there is no such call
    # parts of it by name; None where a part's time is not told
    phases: dict[str, NonNegativeFloat | None]
    programs: tuple[Program, ...] = ()  # what was made in it
    # what had to be emptied for it, what could not be made fresh, or why there is none
    cleared: tuple[str, ...] = ()
    recompiled: tuple[Recompilation, ...] = ()  # with `--fresh N`: each cold call
    usual: NonNegativeFloat | None = None  # as `later` of these, of what was compiled before
    passes: tuple[CompilePasses, ...] = ()  # with `--passes`: of each framework that compiled

    @property
    def programs_differ(self) -> bool:
        """Whether calls of one program took longer than those of another one in all rounds."""
        by_time = sorted(self.recompiled, key=lambda each: each.later)
        return len(by_time) > 1 and by_time[-1].is_slower(by_time[0])

    def words(self, digits: int) -> str:
        """Return the row of a report.

        Example:
            >>> ColdCallResult(0.096, {"compile": 0.09}).words(3)
            '96.0 ms = compile 90 ms + run 6.0 ms (your caches are untouched)'
        """
        remarks = "; ".join(self.cleared)
        if self.seconds is None:
            return f"none: {remarks}"
        remarks = remarks or _UNTOUCHED
        if len(self.recompiled) > 1:
            low, high = _ends([each.seconds for each in self.recompiled])
            remarks = f"median of {len(self.recompiled)}: {low} to {high}; {remarks}"
        return f"{spell_phases(self.seconds, self.phases, digits)} ({remarks})"

    def recompiled_words(self) -> str:
        """Return the row on later calls of what each cold call compiled.

        Example:
            >>> made = tuple(Recompilation(0.1, (s,)) for s in (0.002, 0.003))
            >>> ColdCallResult(0.1, {}, (), (), made, 0.002).recompiled_words()
            '2 programs: calls take 2.00 ms to 3.00 ms at least; in turn, the usual one 2.00 ms'
        """
        later = " to ".join(dict.fromkeys(_ends([each.later for each in self.recompiled])))
        count = units.count(len(self.recompiled), "program")
        usual = units.duration(self.usual or 0.0, 3)
        return f"{count}: calls take {later} at least; in turn, the usual one {usual}"


@dataclass(frozen=True)
class Counterpart:
    """The same function compiled where this is eager, or eager where this is compiled."""

    compiled: bool  # whether the counterpart is the compiled one
    per_call: NonNegativeFloat  # its seconds per call
    # of the 95 % interval of that, relative to it; None where it is not known
    half_width: NonNegativeFloat | None
    # seconds that compiling took, in whichever of the two it was seen
    compilation: NonNegativeFloat

    def words(self, per_call: float, half_width: float) -> str:
        """Say after how many calls of this time the compilation is paid back.

        Example:
            >>> Counterpart(False, 0.012, 0.01, 0.14).words(0.002, 0.01)
            'after 14 calls (eager 12 ms, compiled 2.0 ms per call; compilation 140 ms)'
        """
        this = per_call, half_width
        other = self.per_call, math.inf if self.half_width is None else self.half_width
        eager, compiled = (this, other) if self.compiled else (other, this)
        figures = (
            f"(eager {units.duration(eager[0], 2)},"
            f" compiled {units.duration(compiled[0], 2)} per call;"
            f" compilation {units.duration(self.compilation, 2)})"
        )
        if _low(*compiled) > _high(*eager):
            return f"never: the compiled call is slower {figures}"
        if _low(*eager) > _high(*compiled):
            calls = math.ceil(round(self.compilation / (eager[0] - compiled[0]), 9))
            return f"after {units.count(max(calls, 1), 'call')} {figures}"
        apart = max(eager[0], compiled[0]) > _DIFFERENT_RATIO * min(eager[0], compiled[0])
        if math.isinf(max(eager[1], compiled[1])):
            why = "one of them has a single sample"
        else:
            why = "the times are too noisy" if apart else "both are about as fast"
        return f"unknown: {why} {figures}"


def _ends(seconds: Sequence[float]) -> tuple[str, str]:
    return units.duration(min(seconds), 3), units.duration(max(seconds), 3)


def _low(per_call: float, half_width: float) -> float:
    return per_call / (1 + half_width)  # half widths are those of logarithms


def _high(per_call: float, half_width: float) -> float:
    return per_call * (1 + half_width)


def spell_phases(total: float, phases: Mapping[str, float | None], digits: int) -> str:
    """Spell a call as the sum of its phases and the rest, "run"."""
    ordered = order_phases(phases)
    timed = {phase: seconds for phase, seconds in ordered if seconds is not None}
    untimed = [phase for phase, seconds in ordered if seconds is None]
    words = units.duration(total, digits)
    if timed:
        timed["run"] = max(total - math.fsum(timed.values()), 0.0)
        parts = [f"{phase} {units.duration(s, 2)}" for phase, s in timed.items()]
        words += f" = {' + '.join(parts)}"
    return words + (f", including {', '.join(untimed)} (time unknown)" if untimed else "")


def split_phases(total: float, phases: Mapping[str, float | None]) -> dict[str, float]:
    """Return the phases of a call in order, "run" last; none where the time of one is unknown.

    Example:
        >>> split_phases(3.0, {"compile": 1.5, "trace": 0.5})
        {'trace': 0.5, 'compile': 1.5, 'run': 1.0}
    """
    timed = {phase: s for phase, s in order_phases(phases) if s is not None}
    if not timed or len(timed) < len(phases):
        return {}
    return {**timed, "run": max(total - math.fsum(timed.values()), 0.0)}


def order_phases(phases: Mapping[str, float | None]) -> list[tuple[str, float | None]]:
    """Return phases with their seconds, in the order in which they happen."""
    known = [phase for phase in _PHASES if phase in phases]
    return [(phase, phases[phase]) for phase in (*known, *sorted(phases.keys() - set(_PHASES)))]


def program_rows(programs: Sequence[Program]) -> Iterator[tuple[str, str]]:
    """Return the rows of a report that name what was made: compiled, loaded, traced.

    Example:
        >>> list(program_rows([Program("step", 0.081, "compiled", "jax")]))
        [('compiled', 'step 81 ms')]
    """
    for origin, (label, ending) in _ROWS.items():
        made = [program for program in programs if program.origin == origin]
        if made:
            yield label, _named(made, ending)


def _named(programs: Sequence[Program], ending: str) -> str:
    count = units.count(len(programs), "program")
    if all(program.name == UNNAMED for program in programs):
        return f"{_spell_total(count, programs)}{ending}, names unknown"
    by_name: dict[str, list[Program]] = {}
    for program in programs:
        by_name.setdefault(program.name, []).append(program)
    groups = sorted(by_name.items(), key=lambda item: -_spent(item[1]))
    shown = [
        _spell_total(name if len(group) == 1 else f"{len(group)} × {name}", group)
        for name, group in groups[:_MAX_NAMED_PROGRAMS]
    ]
    more = sum(len(group) for _, group in groups[_MAX_NAMED_PROGRAMS:])
    shown += [f"and {more} more"] if more else []
    counted = "" if len(programs) == 1 else f"{count}{ending}: "
    return counted + ", ".join(shown) + ("" if counted else ending)


def _spell_total(name: str, programs: Sequence[Program]) -> str:
    if any(program.seconds is None for program in programs):
        return name
    return f"{name} {units.duration(_spent(programs), 2)}"


def _spent(programs: Sequence[Program]) -> float:
    return math.fsum(program.seconds or 0.0 for program in programs)
