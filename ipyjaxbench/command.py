"""What can be typed after a magic's name: its table of options, and the splitter of its line.

What follows the options is code and is kept byte for byte, so that ``-x + 1`` and ``"a  b"``
mean what they say.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ipyjaxbench.errors import OptionError, called_from
from ipyjaxbench.option import Option, flag, option, options_of
from ipyjaxbench.purposes import MAGICS, PURPOSES
from ipyjaxbench.validation import variable

_NUMBER_AHEAD = re.compile(r"\s*\d+(?=\s|$)")  # behind an option that needs none
_NUMBER = re.compile(r"\.?\d")
#: A word of a line, in quotes where it holds blanks.
WORD = re.compile(r"""\s*("[^"]*"|'[^']*'|\S+)""")

T = TypeVar("T")

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """What becomes of a result."""

    quiet: bool = flag("-q, --quiet", "show nothing")
    returned: bool = flag("-o, --return", "return the result object")
    variable: str | None = option(
        None, "-v, --variable result", variable, "save the result object under this name"
    )
    json: bool = flag("--json", "show the result as JSON instead of a report")
    #: Old flags that were typed, each with the one that replaces it.
    renamed: tuple[tuple[str, str], ...] = ()


_SHOWN = options_of(ShownOptions)


@dataclass(frozen=True)
class NoOptions:
    """None but those of all magics."""


@dataclass(frozen=True, kw_only=True)
class Command(Generic[T]):
    """What one magic takes.

    Attributes:
        name: of the magic.
        options: class of its own options, which refuses what breaks a rule.
        usage: how it is typed.
        examples: to paste, and the Python call that it stands for.
        takes_code: whether code stands behind the options.
        several: whether several expressions may stand there, with blanks between them.
        names: what else stands there: "kept" names of results.
    """

    name: str
    options: type[T]
    usage: tuple[str, ...] = ()
    examples: str = ""
    takes_code: bool = True
    several: bool = False
    names: str = ""

    @property
    def purpose(self) -> str:
        """What it does, in one sentence."""
        return PURPOSES[self.name]

    @property
    def typed(self) -> str:
        """The magic as it is typed first, such as "%fwtime"."""
        return next(magic for magic in MAGICS if magic.lstrip("%") == self.name)

    def split(
        self, line: str, configured: Mapping[str, object] = _NOTHING
    ) -> tuple[T, ShownOptions, str]:
        """Return the magic's own options, those of all magics, and the rest as it was typed.

        Args:
            line: all that follows the magic's name.
            configured: values by keyword, for what is not typed.

        Example:
            >>> from ipyjaxbench.jupyter.commands import TIME
            >>> options, shown, code = TIME.split("-r5 -q -x + 1")
            >>> options.repeat, shown.quiet, code
            (5, True, '-x + 1')
        """
        rows = self.rows_by_flag
        values: dict[str, Any] = {}
        setters: dict[str, Option] = {}  # the option that has set each field
        renamed: list[tuple[str, str]] = []
        words, position = self._words_ahead(line, 0)
        last: list[tuple[str, str | None]] = []
        while (match := WORD.match(line, position)) and match[1].startswith("-"):
            if match[1] == "--":
                last, position = [], match.end()
                break
            last = self.options_in(match[1])
            if not last and self.takes_code:
                break
            if not last:
                raise self._unknown(match[1])
            position = match.end()
            old = match[1].partition("=")[0]
            renamed += [(old, name) for name, _ in last if old in self._new_flags]
            for name, own_text in last:
                row, value = rows[name], rows[name].value
                if own_text is None and row.takes_value and not self.has_value(row, line, position):
                    value = row.bare
                elif row.takes_value:
                    text, position = _read_value(line, position, name, row, own_text)
                    value = row.read(name, text)
                else:
                    _refuse_contradiction(values, setters, name, row)
                if row.several:
                    value = (*values.get(row.field, ()), value)
                values[row.field], setters[row.field] = value, row
            more, position = self._words_ahead(line, position)
            words += more
        rest = " ".join([*words, line[position:].strip()]).strip()
        self._refuse_value(last, rest)
        shown = {row.field: values.pop(row.field) for row in _SHOWN if row.field in values}
        return (
            self._make({**configured, **values}),
            ShownOptions(**shown, renamed=tuple(renamed)),
            rest,
        )

    def help(self, configured: Mapping[str, object] = _NOTHING) -> str:
        """Return what `%fwtime?` shows: purpose, usage, options, examples, the Python call."""
        untyped = vars(self._make(configured))
        usage = "\n       ".join(self.usage)
        rows = "\n".join(line for row in self.rows for line in row.help_lines(untyped))
        return f"{self.purpose}\n\nusage: {usage}\n\noptions:\n{rows}\n\n{self.examples}"

    @cached_property
    def rows(self) -> tuple[Option, ...]:
        """Its options, its own first."""
        return (*options_of(self.options), *_SHOWN)

    @property
    def rows_by_flag(self) -> dict[str, Option]:
        """Its options by each of their flags."""
        return {flag: row for row in self.rows for flag in row.flags}

    def options_in(self, word: str) -> list[tuple[str, str | None]]:
        """Return flags and values in a word such as ``-n10`` or ``-qon10``; none in code."""
        rows = self.rows_by_flag
        name, equals, value = word.partition("=")
        name = self._new_flags.get(name, name)
        if name in rows:
            if equals and not rows[name].takes_value:
                raise OptionError(f"{word}: {name} takes no value. Type {name} alone.")
            return [(name, value if equals else None)]
        if word.startswith("--"):
            raise self._unknown(name)
        flags: list[tuple[str, str | None]] = []
        for end, letter in enumerate(word[1:], start=2):
            flag, rest = f"-{letter}", word[end:]
            if flag not in rows:
                return []
            if rows[flag].takes_value:
                # `-n10` is an option and `-beta` is code: a number shows by its first sign.
                is_value = flag == "-v" or not rest or _NUMBER.match(rest) is not None
                return [*flags, (flag, rest or None)] if is_value else []
            flags.append((flag, None))
        return flags

    def has_value(self, row: Option, line: str, position: int) -> bool:
        """Whether what follows an option in a line is its value, or must be.

        A number that may be left out is one where no code begins with it. A call or an element of
        a number is no code that anyone means.

        Example:
            >>> from ipyjaxbench.jupyter.commands import TIME
            >>> fresh = TIME.rows_by_flag["--fresh"]
            >>> [TIME.has_value(fresh, rest, 0) for rest in ("5 f(x)", "5 * x", "f(x)", "5 -q x")]
            [True, False, False, True]
        """
        if row.bare is None:
            return row.takes_value
        number = _NUMBER_AHEAD.match(line, position)
        if number is None:
            return False
        rest = line[number.end() :].strip()
        if rest.startswith("-"):
            word = rest.split()[0]
            return word.startswith("--") or bool(self.options_in(word))
        return not rest or rest[0] in "([#" or not _is_code(line[position:])

    @cached_property
    def _new_flags(self) -> dict[str, str]:
        """The flags that replace old ones, by the old ones."""
        return {row.old: row.flags[-1] for row in self.rows if row.old}

    def _unknown(self, name: str) -> OptionError:
        """Return the error for an option that does not exist."""
        import difflib

        near = difflib.get_close_matches(name, self.rows_by_flag, 1, 0.7)
        hint = f"Did you mean {near[0]}?" if near else f"{self.typed}? lists all options."
        if self.takes_code:
            hint += " (If it is code, type -- in front of it.)"
        return OptionError(f"unknown option {name}. {hint}")

    def _refuse_value(self, last: Sequence[tuple[str, str | None]], rest: str) -> None:
        """Refuse ``--profile gpu f(x)``: a word that leaves no code is meant as value."""
        takes_words = self.several or not self.takes_code
        row = self.rows_by_flag[last[-1][0]] if last else None
        if takes_words or row is None or (row.takes_value and row.bare is None):
            return
        flag, (word, _, code) = last[-1][0], rest.partition(" ")
        if word.isidentifier() and code.strip() and not _is_code(rest) and _is_code(code):
            takes = "no value" if row.bare is None else "a number or nothing"
            raise OptionError(f"{flag} {word}: {flag} takes {takes}. Type {flag} {code.strip()}")

    def _words_ahead(self, line: str, position: int) -> tuple[list[str], int]:
        """Return the words in front of an option, none where they are code, and where they end."""
        words: list[str] = []
        while not self.takes_code and (match := WORD.match(line, position)):
            if match[1].startswith("-"):
                break
            words.append(match[1])
            position = match.end()
        return words, position

    def _make(self, values: Mapping[str, Any]) -> T:
        """Return its own options; values for fields that they do not have are left out."""
        own = {field.name for field in fields(self.options)}  # type: ignore[arg-type]
        with called_from(self.typed):
            return self.options(**{name: value for name, value in values.items() if name in own})


def _refuse_contradiction(
    values: dict[str, Any], setters: dict[str, Option], name: str, row: Option
) -> None:
    """Refuse an option that sets a field to another value than one before it."""
    if values.get(row.field, row.value) != row.value:
        other = setters[row.field].flags[0]
        raise OptionError(f"{other} and {name} cannot be combined: leave out one of them")


def _read_value(
    line: str, position: int, name: str, row: Option, text: str | None
) -> tuple[str, int]:
    """Return the value of an option, from its own word or the next one, and where that ends."""
    if text is not None:
        return text, position
    match = WORD.match(line, position)
    if not match:
        raise OptionError(f"{name} needs a value, for example {name} {row.sample}")
    word = match[1]
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word, match.end()


def _is_code(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    return True
