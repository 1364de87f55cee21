"""What can be typed after a magic's name: its table of options, and the splitter of its line.

What follows the options is code and is kept byte for byte, so that ``-x + 1`` and ``"a  b"``
mean what they say.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ipyjaxbench.errors import OptionError
from ipyjaxbench.option import Option, flag, option, options_of
from ipyjaxbench.purposes import MAGICS, PURPOSES
from ipyjaxbench.validation import variable

_WIDTH, _FLAGS = 80, 26  # columns of the help, and of the flags in it
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


_SHOWN = options_of(ShownOptions)


@dataclass(frozen=True, kw_only=True)
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
        """Take the leading options off a line.

        Args:
            line: all that follows the magic's name.
            configured: values by keyword, for what is not typed.

        Returns:
            Its own options, those of all magics, and the rest with every byte as it was typed.

        Raises:
            OptionError: an option is unknown, lacks its value, or its value breaks a rule.

        Example:
            >>> from ipyjaxbench.jupyter.commands import TIME
            >>> options, shown, code = TIME.split("-r5 -q -x + 1")
            >>> options.repeat, shown.quiet, code
            (5, True, '-x + 1')
        """
        rows = self.rows_by_flag
        values: dict[str, object] = {}
        words, position = self._ahead(line, 0)
        found: list[tuple[str, str | None]] = []
        while (match := WORD.match(line, position)) and match[1].startswith("-"):
            word = match[1]
            if word == "--":
                found, position = [], match.end()
                break
            found = self.options_in(word)
            if not found and self.takes_code:
                break
            if not found:
                raise self._unknown(word)
            position = match.end()
            for name, text in found:
                row, given = rows[name], text
                if not row.takes_value:
                    _set(values, name, row, rows)
                    continue
                if given is None:
                    following = WORD.match(line, position)
                    if not following:
                        raise OptionError(f"{name} needs a value: type {name} {row.sample}")
                    given, position = _unquoted(following[1]), following.end()
                value = row.read(name, given)
                before = values.get(row.field, ())
                values[row.field] = (*before, value) if row.several else value  # type: ignore[misc]
            more, position = self._ahead(line, position)
            words += more
        rest = " ".join([*words, line[position:].strip()]).strip()
        self._refuse_value(found, rest)
        shown = {row.field: values.pop(row.field) for row in _SHOWN if row.field in values}
        return self._made({**configured, **values}), ShownOptions(**shown), rest  # type: ignore[arg-type]

    def help(self, configured: Mapping[str, object] = _NOTHING) -> str:
        """What `%fwtime?` shows: purpose, usage, options, examples, the Python call.

        Args:
            configured: values by keyword, for what is not typed.
        """
        untyped = vars(self._made(configured))
        usage = "\n       ".join(self.usage)
        rows = "\n".join(line for row in self.rows for line in _help_of(row, untyped))
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
        """The options that one word stands for, each with its value where that is in the word.

        Args:
            word: such as ``-n``, ``-n10``, ``--number=10`` or ``-qon10``.

        Returns:
            Flags with values; nothing where the word is code.

        Raises:
            OptionError: there is no such option, or it takes no value.
        """
        rows = self.rows_by_flag
        name, equals, value = word.partition("=")
        if name in rows:
            if equals and not rows[name].takes_value:
                raise OptionError(f"{word}: {name} takes no value; type {name} alone")
            return [(name, value if equals else None)]
        if word.startswith("--"):
            raise self._unknown(name)
        found: list[tuple[str, str | None]] = []
        for end, letter in enumerate(word[1:], start=2):
            flag, rest = f"-{letter}", word[end:]
            if flag not in rows:
                return []
            if rows[flag].takes_value:
                # `-n10` is an option and `-beta` is code: numbers are told by their first sign.
                is_value = flag == "-v" or not rest or _NUMBER.match(rest) is not None
                return [*found, (flag, rest or None)] if is_value else []
            found.append((flag, None))
        return found

    def _unknown(self, name: str) -> OptionError:
        """What is said of an option that there is not."""
        import difflib

        near = difflib.get_close_matches(name, self.rows_by_flag, 1, 0.7)
        hint = f"did you mean {near[0]}?" if near else f"{self.typed}? lists the options."
        if self.takes_code:
            hint += " (Code that starts with -- goes after --)"
        return OptionError(f"unknown option {name}; {hint}")

    def _refuse_value(self, last: Sequence[tuple[str, str | None]], rest: str) -> None:
        """``--device gpu f(x)``: a word that makes no code of the rest was meant for the option."""
        takes_words = self.several or not self.takes_code
        if takes_words or not last or self.rows_by_flag[last[-1][0]].takes_value:
            return
        flag, (word, _, code) = last[-1][0], rest.partition(" ")
        if word.isidentifier() and code.strip() and not _is_code(rest) and _is_code(code):
            raise OptionError(f"{flag} {word}: {flag} takes no value; type {flag} {code.strip()}")

    def _ahead(self, line: str, position: int) -> tuple[list[str], int]:
        """Words in front of an option, and where they end: where they are code, there are none."""
        words: list[str] = []
        while not self.takes_code and (match := WORD.match(line, position)):
            if match[1].startswith("-"):
                break
            words.append(match[1])
            position = match.end()
        return words, position

    def _made(self, values: Mapping[str, Any]) -> T:
        """Return its own options; values for fields that they do not have are left out."""
        own = {field.name for field in fields(self.options)}  # type: ignore[arg-type]
        return self.options(**{name: value for name, value in values.items() if name in own})


def _help_of(row: Option, untyped: dict[str, Any]) -> Iterator[str]:
    """The lines of the help on one option."""
    value = f" {row.field.upper()}" if row.takes_value else ""
    flags = f"  {', '.join(row.flags)}{value}"
    first, *more = textwrap.wrap(row.help.format_map(untyped), _WIDTH - _FLAGS)
    if len(flags) > _FLAGS - 2:
        yield flags
        flags = ""
    yield f"{flags:{_FLAGS}}{first}"
    yield from (f"{'':{_FLAGS}}{line}" for line in more)


def _set(values: dict[str, object], flag: str, row: Option, rows: dict[str, Option]) -> None:
    """Set a field to the constant of an option; two long ones that differ contradict."""
    if values.get(row.field, row.value) != row.value and flag.startswith("--"):
        other = next(
            name
            for name, each in rows.items()
            if (each.field, each.value) == (row.field, values[row.field])
        )
        raise OptionError(f"{other} and {flag} do not go together: leave one out")
    values[row.field] = row.value


def _is_code(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    return True


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word
