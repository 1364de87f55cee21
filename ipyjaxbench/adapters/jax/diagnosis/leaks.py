"""Which function let a tracer out, and where it was made: far down in the message of JAX."""

import linecache
import os
import re
from dataclasses import replace
from typing import NamedTuple

from jax._src import core

from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.usercode import cell_of, message_of

#: In the words of all versions; a place is left out where JAX knows none.
_FUNCTION = re.compile(
    r"value leaked was (?P<name>.+?)(?: at (?P<file>.+?):(?P<line>\d+))? traced for (?P<by>.+?)\.$",
    re.MULTILINE,
)
_MADE = re.compile(r"created on line (?P<file>\S.*?):(?P<line>\d+)(?::\d+)? \(")
_TYPE = re.compile(r"value with type (\S+) ")
_ASSIGNED = re.compile(r"(\w+)\s*=[^=]")
_MOST_SHOWN = 60  # characters of a line


class _Leak(NamedTuple):
    """The function that was traced, what traced it, and the line where the value was made."""

    name: str
    by: str
    file: str
    line: int


def message_about(tracer: object) -> str:
    """Return what JAX says where a tracer is used after its trace (private)."""
    describe = getattr(core, "escaped_tracer_error", None)
    return "a value of an earlier trace is used" if describe is None else str(describe(tracer))


def name_leak(diagnosis: Diagnosis, error: BaseException) -> Diagnosis:
    """Return a diagnosis that says which function let a tracer out, and what to type."""
    text = message_of(error)
    leak = _leak_in(text)
    if leak is None:
        return diagnosis
    name = "a lambda" if leak.name == "<lambda>" else f"`{leak.name}`"
    source = linecache.getline(leak.file, leak.line).strip()
    shown = f": {source}" if 0 < len(source) <= _MOST_SHOWN else ""
    place = f" ({_place(leak)}{shown})" if leak.line else ""
    found = _TYPE.search(text)
    of = f" {found[1]}" if found else ""
    return replace(
        diagnosis,
        message=f"a tracer{of} of {name} is used after its trace (for {leak.by})",
        because=f"A tracer leaked: a value that {name} computed while it was traced{place} was"
        " stored outside of it, and is used here.",
        advice=f"Return the value instead of storing it: {_returned(leak, source)}.",
    )


def _leak_in(text: str) -> _Leak | None:
    found, made = _FUNCTION.search(text), _MADE.search(text)
    if found is None:
        return None
    where = made or (found if found["line"] else None)
    file, line = (where["file"], int(where["line"])) if where else ("", 0)
    return _Leak(found["name"], found["by"], file, line)


def _place(leak: _Leak) -> str:
    number = cell_of(leak.file)
    file = f"cell In[{number}]" if number else os.path.basename(leak.file)
    return f"{file}, line {leak.line}"


def _returned(leak: _Leak, source: str) -> str:
    """Return what to type in the function, and where it is called."""
    assigned = _ASSIGNED.match(source)
    value = assigned[1] if assigned else "value"
    if leak.by == "scan":  # what it gives for each step is stacked
        return f"`return carry, {value}` at the end of the body, whose values `jax.lax.scan` stacks"
    if leak.name.isidentifier():
        return (
            f"`return result, {value}` in `{leak.name}`, and `result, {value} = {leak.name}(...)`"
        )
    return f"as one more result, `result, {value}`"
