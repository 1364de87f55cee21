"""Calls that are typed into a real shell, each in a cell of its own, and what is right to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import Traces
from tests.shell import Shell

_RIGHT = " => "
_AGAIN = {"CACHED", "BYPASSED"}  # what the second call of a line may be


@dataclass
class Score:
    """What was found of some calls.

    Attributes:
        calls: how many were judged.
        cached: how many of them find their program.
        wrong: those of which another verdict or reason was told, with both.
        unknown: those of which the reason is not known.
    """

    calls: int = 0
    cached: int = 0
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.calls} calls, {self.cached} of them cached:"
            f" {len(self.wrong)} wrong, {len(self.unknown)} not known"
        )


def score(shell: Shell, sessions: Mapping[str, Sequence[str]], start: str = "") -> Score:
    """Type the cells of some sessions.

    Args:
        shell: with the names that all sessions use.
        sessions: the cells of each. One with `` => `` is a call, looked at with
            ``%trace_cached``, and what is right to say of it: its state and its reason. Where a
            cell has lines already, that stands behind the last of them.
        start: a cell that each session begins with.
    """
    found = Score()
    for name, cells in sessions.items():
        TRACE_LOG.clear()
        shell.run(start)
        for cell in cells:
            code, is_call, right = cell.partition(_RIGHT)
            if not is_call:
                shell.run(cell)
                continue
            look = "%%trace_cached -qv looked\n" if "\n" in code else "%trace_cached -qv looked "
            shell.run(look + code)
            _judge(found, f"{name}: {code}", right, shell.names["looked"])
    return found


def _judge(found: Score, cell: str, right: str, looked: Traces) -> None:
    told = [
        f"{call.state} {'; '.join(change.words() for change in call.why)}".strip()
        for call in looked.calls
    ]
    first, *second = told or ["NOTHING"]  # a line is called twice
    found.calls += 1 + len(second)
    found.cached += (right == "CACHED") + second.count("CACHED")
    if first.endswith("?") or "reason unknown" in first or (first == "TRACED" != right):
        found.unknown.append(f"{cell}\n    {first}, not {right}")
    elif first != right or ({*second} - _AGAIN and "\n" not in cell):
        found.wrong.append(f"{cell}\n    {told}, not {right}")
