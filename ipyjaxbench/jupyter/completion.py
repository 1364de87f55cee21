"""What may stand where the cursor is, while the options of a magic are being typed."""

from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any, NamedTuple

from ipyjaxbench.command import WORD, Command
from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import Option

#: "kept", "labels" or "bound" (what code can read) -> the names of that sort.
Names = Callable[[str], Sequence[str]]


class Completion(NamedTuple):
    """What may stand at the cursor.

    Attributes:
        fragment: what of it is there already.
        candidates: each begins with the fragment.
    """

    fragment: str
    candidates: tuple[str, ...]


def complete(command: Command[Any], typed: str, names: Names) -> Completion | None:
    """Return what may stand at the cursor.

    Args:
        command: the magic.
        typed: what stands between its name and the cursor.
        names: gives the names of one sort.

    Returns:
        The options, values or names; None where there are none, or code that is more than a name.

    Example:
        >>> from ipyjaxbench.jupyter.commands import GRAPH
        >>> complete(GRAPH, "-q --stage op", lambda sort: ())
        Completion(fragment='op', candidates=('optimized',))
    """
    position, rows = 0, command.rows_by_flag
    while (match := WORD.match(typed, position)) and match[1].startswith("-") and match[1] != "--":
        word, position = match[1], match.end()
        if position == len(typed):
            return _of_flag(word, rows, names)
        try:
            found = command.options_in(word)
        except OptionError:
            return None
        if not found:
            return None
        flag, value = found[-1]
        if rows[flag].takes_value and value is None:
            following = WORD.match(typed, position)
            if following is None or following.end() == len(typed):
                return _of(_values(rows[flag], names), following[1] if following else "")
            position = following.end()
    rest = typed[position:].lstrip()
    if rest == "--":
        return _of([flag for flag in rows if flag.startswith("--")], "--")
    *before, last = rest.split() if rest and not rest[-1].isspace() else [*rest.split(), ""]
    if command.names:
        return _of(names(command.names), last)
    # A name alone is code too, and what is behind a magic without any punctuation no other
    # completer takes for code.
    is_name = last.isidentifier() and all(w.isidentifier() and not iskeyword(w) for w in before)
    return _of(names("bound"), last) if command.takes_code and is_name else None


def _of_flag(word: str, rows: dict[str, Option], names: Names) -> Completion | None:
    name, equals, value = word.partition("=")
    if equals:
        return _of(_values(rows[name], names), value) if name in rows else None
    return _of(list(rows), word)


def _values(row: Option, names: Names) -> list[str]:
    return [*row.choices, *(names(row.names) if row.names else ())]


def _of(candidates: Sequence[str], fragment: str) -> Completion | None:
    quoted = [f'"{each}"' if " " in each else each for each in candidates]
    fitting = tuple(each for each in dict.fromkeys(quoted) if each.startswith(fragment))
    return Completion(fragment, fitting) if fitting else None
