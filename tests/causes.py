"""Reasons of traces, each held against an experiment: what is put back, and whether that helps."""

from collections.abc import Callable
from dataclasses import dataclass
from string import Template
from typing import Any

from tests.traced import observed


@dataclass(frozen=True)
class Changed:
    """Two calls of which the second one is no cache hit.

    Attributes:
        function: code that defines what is called; it is run anew for each experiment.
        call: the call, with a ``$name`` for each value.
        old: the values of the first call.
        new: those that are others in the second call.
        cause: the one of these for which the second call is no hit.
        words: the whole reason.
        state: of the second call.
    """

    function: str
    call: str
    old: dict[str, str]
    new: dict[str, str]
    cause: str
    words: str
    state: str = "TRACED"


def judge(
    row: Changed, names: dict[str, Any], forget: Callable[[], object] = lambda: None
) -> list[str]:
    """Return what is wrong with a reason: what it says, or what putting values back shows.

    Args:
        row: the calls.
        names: in which they are made.
        forget: drops what the framework remembers of code that is run again.
    """
    forget()
    state, said = _second_call(row, row.new, names)
    wrong = [] if (state, said) == (row.state, row.words) else [f"{state}, {said!r}"]
    hits = ("CACHED",) if row.state == "SLOW-PATH" else ("CACHED", "SLOW-PATH")
    for name in row.new:
        others = {each: value for each, value in row.new.items() if each != name}
        forget()
        state, _ = _second_call(row, others, names)
        if (state in hits) != (name == row.cause):
            wrong.append(f"{state} with {name} put back")
    return wrong


def _second_call(row: Changed, new: dict[str, str], names: dict[str, Any]) -> tuple[str, str]:
    """Return the state of the second call, and why."""
    exec(row.function, names)
    calls = [Template(row.call).substitute(values) for values in (row.old, {**row.old, **new})]
    second = observed("\n".join(calls), names).calls[-1]
    return second.state, "; ".join(change.words() for change in second.why)
