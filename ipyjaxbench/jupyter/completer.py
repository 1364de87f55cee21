"""Completes options, their values and names; code is completed as everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple

import IPython

from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.purposes import PURPOSES

if TYPE_CHECKING:
    from ipyjaxbench.command import Command
    from ipyjaxbench.option import Option

# Patterns are compiled when they are first used: here that would take a tenth of all loading.
#: A magic, maybe with what its result is bound to, and all that follows.
_MAGIC = r"(?s)(?:[^%]*=)?\s*(%%?)(\w+)([ \t].*)"
#: Names with dots between them, and nothing that would run code.
_DOTTED = r"(?<![\w.)\]])[^\W\d]\w*(?:\.[^\W\d]\w*)*\.\w*$"
_HAS_CONTEXTS = IPython.version_info >= (8, 6)

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


class Completer:
    """Completes what follows our magics.

    Attributes:
        shells: the shell's own completer.
        registry: in which it looks for matchers.
        matcher: to be entered there.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.shells: Any = session.shell.Completer
        self.registry, self.matcher = (
            _context_matchers(self) if _HAS_CONTEXTS else _line_matchers(self)
        )

    def complete(self, before: str, below: str) -> Completion | None:
        """Return what may stand at the cursor, by its line before it and the lines below."""
        magic = re.fullmatch(_MAGIC, before)
        if magic is None or magic[2] not in PURPOSES:
            return None
        return self._complete_options(magic, below) or self._complete_attributes(magic[3])

    def _complete_attributes(self, code: str) -> Completion | None:
        """Return attributes of a dotted name, which IPython looks up in its own magics alone."""
        dotted = re.search(_DOTTED, code)
        if dotted is None or self.shells.use_jedi:
            return None
        attributes = tuple(self.shells.attr_matches(dotted[0]))
        return Completion(dotted[0], attributes) if attributes else None

    def _complete_options(self, magic: re.Match[str], below: str) -> Completion | None:
        from dataclasses import replace

        from ipyjaxbench.comparison import arm_labels
        from ipyjaxbench.jupyter.commands import COMMANDS

        command, is_cell = COMMANDS[magic[2]], magic[1] == "%%"

        def names(sort: str) -> Sequence[str]:
            if sort == "bound":
                return [*self.shells.global_matches("")]
            is_arm = sort == "labels" and is_cell
            return arm_labels(below) if is_arm else [*self._session.measurements]

        return complete(replace(command, names="") if is_cell else command, magic[3], names)


def _context_matchers(completer: Completer) -> tuple[list[Any], Callable[..., Any]]:
    """Return the matchers of IPython from 8.6 on: they get the cell, and can stand alone."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier="ipyjaxbench")
    def options(context: Any) -> dict[str, Any]:
        below = context.full_text.split("\n")[context.cursor_line + 1 :]
        completion = completer.complete(context.text_until_cursor, "\n".join(below))
        if completion is None:
            return {"completions": []}
        return {
            "completions": [SimpleCompletion(c, type="magic") for c in completion.candidates],
            "matched_fragment": completion.fragment,
            "suppress": True,
        }

    return completer.shells.custom_matchers, options


def _line_matchers(completer: Completer) -> tuple[list[Any], Callable[..., Any]]:
    """Return the matchers of a magic's arguments: they come first, and alone where they match."""

    def options(_: str) -> list[str]:
        before: str = completer.shells.text_until_cursor
        completion = completer.complete(before, "")
        if completion is None:
            return []
        # What stands at the cursor, as this completer splits lines: less or more than a value.
        there = completer.shells.splitter.split_line(before)
        typed = len(completion.fragment) - len(there)
        above = there[: max(-typed, 0)]
        return [above + text[max(typed, 0) :] for text in completion.candidates]

    return completer.shells.magic_arg_matchers, options


def complete(command: Command[Any], typed: str, names: Names) -> Completion | None:
    """Return the options, values or names that may stand at the cursor.

    None stands for no such thing, and for code that is more than a name.

    Example:
        >>> from ipyjaxbench.jupyter.commands import GRAPH
        >>> complete(GRAPH, "-q --stage op", lambda sort: ())
        Completion(fragment='op', candidates=('optimized',))
    """
    from ipyjaxbench.command import WORD
    from ipyjaxbench.errors import OptionError

    position, rows = 0, command.rows_by_flag
    while (match := WORD.match(typed, position)) and match[1].startswith("-") and match[1] != "--":
        word, position = match[1], match.end()
        if position == len(typed):
            return _complete_flag(word, rows, names)
        try:
            flags = command.options_in(word)
        except OptionError:
            return None
        if not flags:
            return None
        flag, value = flags[-1]
        if value is None and command.has_value(rows[flag], typed, position):
            following = WORD.match(typed, position)
            if following is None or following.end() == len(typed):
                return _completion(_values(rows[flag], names), following[1] if following else "")
            position = following.end()
    rest = typed[position:].lstrip()
    if rest == "--":
        return _completion([flag for flag in rows if flag.startswith("--")], "--")
    *before, last = rest.split() if rest and not rest[-1].isspace() else [*rest.split(), ""]
    if command.names:
        return _completion(names(command.names), last)
    # A name alone is code too, and what is behind a magic without any punctuation no other
    # completer takes for code.
    is_name = last.isidentifier() and all(w.isidentifier() and not iskeyword(w) for w in before)
    return _completion(names("bound"), last) if command.takes_code and is_name else None


def _complete_flag(word: str, rows: dict[str, Option], names: Names) -> Completion | None:
    name, equals, value = word.partition("=")
    if equals:
        return _completion(_values(rows[name], names), value) if name in rows else None
    return _completion(list(rows), word)


def _values(row: Option, names: Names) -> list[str]:
    return [*row.choices, *(names(row.names) if row.names else ())]


def _completion(candidates: Sequence[str], fragment: str) -> Completion | None:
    quoted = [f'"{text}"' if " " in text else text for text in candidates]
    fitting = tuple(text for text in dict.fromkeys(quoted) if text.startswith(fragment))
    return Completion(fragment, fitting) if fitting else None
