"""What differs between two programs: counts first, then the text."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from ipyjaxbench.record_types import NonNegativeInt

#: Forms of a program whose text is HLO.
HLO_FORMS = ("hlo", "optimized")
IDENTICAL = "the programs are identical"
_BUT_CONSTANTS = f"{IDENTICAL}, but for numbers of large constants, which the text leaves out"
_KINDS = ("collective", "fusion", "call of", "opcode", "operation", "bytes")
_MOST_LINES = 200  # of a difference that is kept with a measurement
_AROUND = 2  # lines that are shown around one that differs


@dataclass(frozen=True)
class ProgramChange:
    """A count that is not the same in two programs.

    Attributes:
        kind: "collective", "fusion", "call of" (a library), "opcode", "operation" or "bytes".
        name: name of what is counted, such as "loop" or "all-reduce". For bytes, it is what
            exchanges them, or "written" for those that instructions outside of fusions write.
        before: how many the first program has.
        now: how many the second one has.
    """

    kind: str
    name: str
    before: NonNegativeInt
    now: NonNegativeInt

    @property
    def label(self) -> str:
        """What is counted, in words.

        Example:
            >>> ProgramChange("fusion", "loop", 1, 2).label
            'loop fusion'
        """
        if self.kind == "fusion":
            return f"{self.name} fusion"
        if self.kind == "bytes":
            return "bytes written" if self.name == "written" else f"bytes of {self.name}"
        return f"{self.kind} {self.name}" if self.kind == "call of" else self.name


@dataclass(frozen=True)
class ProgramComparison:
    """A compiled program held against what it was at another time.

    Attributes:
        name: what is called.
        instructions: how many it has now.
        changes: counts that are not the same; none where the programs are alike.
        diff: the lines that differ, the first of many; "" where the programs are identical.
    """

    name: str
    instructions: NonNegativeInt
    changes: tuple[ProgramChange, ...] = ()
    diff: str = ""


def compare_programs(name: str, before: str, now: str) -> ProgramComparison:
    """Hold the text of a compiled program against another one."""
    from ipyjaxbench.graphs.hlo_text import instructions  # its patterns take time

    count = sum(1 for _ in instructions(now))
    diff = diff_hlo(before, now, ("before", "now"))
    if diff.startswith(IDENTICAL):
        return ProgramComparison(name, count)
    lines = diff.splitlines()
    more = [f"... {len(lines) - _MOST_LINES:,} more lines"] if len(lines) > _MOST_LINES else []
    shown = "\n".join([*lines[:_MOST_LINES], *more])
    return ProgramComparison(name, count, compare_hlo(before, now), shown)


def compare_counts(
    before: Mapping[tuple[str, str], int], now: Mapping[tuple[str, str], int]
) -> tuple[ProgramChange, ...]:
    """Return the counts that are not the same: by kind, those that differ most first.

    Example:
        >>> compare_counts({("opcode", "sine"): 2}, {("opcode", "sine"): 2})
        ()
    """
    changes = [
        ProgramChange(*key, before.get(key, 0), now.get(key, 0))
        for key in dict.fromkeys((*before, *now))
        if before.get(key, 0) != now.get(key, 0)
    ]
    return tuple(
        sorted(changes, key=lambda c: (_KINDS.index(c.kind), -abs(c.now - c.before), c.name))
    )


def compare_hlo(before: str, now: str) -> tuple[ProgramChange, ...]:
    """Return the counts that differ between the texts of two compiled programs."""
    from ipyjaxbench.graphs.hlo_text import count_program

    return compare_counts(count_program(before), count_program(now))


def diff_hlo(before: str, now: str, names: tuple[str, str]) -> str:
    """Return the lines that differ between two texts of HLO, however they number what is in them.

    Args:
        before: the text of the first program.
        now: that of the second one.
        names: what the two are called.
    """
    from ipyjaxbench.graphs.hlo_text import ELIDED, renumbered, without_numbers

    if renumbered(before) == renumbered(now):
        return _BUT_CONSTANTS if ELIDED in now else IDENTICAL
    plain = diff_lines(without_numbers(before), without_numbers(now), names)
    # Where only the order of operands differs, names without numbers hide that.
    return plain or diff_lines(renumbered(before), renumbered(now), names)


def diff_lines(before: str, now: str, names: tuple[str, str]) -> str:
    """Return the lines that differ between two texts, with some around them; "" for none."""
    lines = (before.splitlines(), now.splitlines())
    return "\n".join(difflib.unified_diff(*lines, *names, "", "", _AROUND, ""))
