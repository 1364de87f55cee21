"""What can be typed after a magic's name: its table of options, and the splitter of its line.

What follows the options is code and is kept byte for byte, so that ``-x + 1`` and ``"a  b"``
mean what they say.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.commands.purposes import PURPOSES
from ipyjaxbench.validation import checked, variable

_WIDTH, _FLAGS = 80, 26  # columns of the help, and of the flags in it
_NUMBER = re.compile(r"\.?\d")
#: A word of a line, in quotes where it holds blanks.
WORD = re.compile(r"""\s*("[^"]*"|'[^']*'|\S+)""")

T = TypeVar("T")

NOTHING: Mapping[str, object] = MappingProxyType({})


class Option(NamedTuple):
    """One row of a table.

    Attributes:
        flags: that it has, such as ("-n", "--number").
        dest: keyword of the options that it sets.
        rule: makes the value of a text, or raises ValueError; for a flag without a value what the
            keyword is set to.
        words: for what it does, in ASCII; ``{usual:g}`` stands for the value of that keyword where
            nothing is typed.
        sample: a value to type.
        choices: the values that it takes, where they can be listed.
        several: whether it may be given several times.
        names: what else it takes: "kept" names of results, or "labels" of the cell's arms.
    """

    flags: tuple[str, ...]
    dest: str
    rule: object
    words: str
    sample: str = "5"
    choices: tuple[str, ...] = ()
    several: bool = False
    names: str = ""

    @property
    def takes_value(self) -> bool:
        """Whether a value follows it."""
        return callable(self.rule)


#: What all magics that show a result have.
SHOWN = (
    Option(("-q", "--quiet"), "quiet", True, "show nothing"),
    Option(("-o", "--return"), "returned", True, "return the result object"),
    Option(
        ("-v", "--variable"),
        "variable",
        variable,
        "save the result object under this name",
        sample="result",
    ),
)

#: What all magics have that make many calls of the user's code.
NO_RESTORE = Option(
    ("--no-restore",), "restore", False, "leave what later calls change in place, and copy nothing"
)


@dataclass(frozen=True, kw_only=True)
class Command(Generic[T]):
    """What one magic takes.

    Attributes:
        name: of the magic.
        options: made of what was typed; it refuses what breaks a rule.
        usage: how it is typed.
        rows: its options.
        examples: to paste, and the Python call that it stands for.
        takes_code: whether code stands behind the options.
        several: whether several expressions may stand there, with blanks between them.
        names: what else stands there: "kept" names of results.
    """

    name: str
    options: type[T]
    usage: tuple[str, ...]
    rows: tuple[Option, ...]
    examples: str
    takes_code: bool = True
    several: bool = False
    names: str = ""

    @property
    def purpose(self) -> str:
        """What it does, in one sentence."""
        return PURPOSES[self.name]

    @property
    def typed(self) -> str:
        """The magic as it is typed first in its usage, such as "%fwtime"."""
        return self.usage[0].split()[0]

    def split(self, line: str, configured: Mapping[str, object] = NOTHING) -> tuple[T, str]:
        """Take the leading options off a line.

        Args:
            line: all that follows the magic's name.
            configured: values by keyword, for what is not typed.

        Returns:
            The options, and the rest with every byte as it was typed.

        Raises:
            OptionError: an option is unknown, lacks its value, or its value breaks a rule.

        Example:
            >>> from ipyjaxbench.jupyter.commands import TIME
            >>> options, code = TIME.split("-r5 -q -x + 1")
            >>> options.repeat, options.quiet, code
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
            for flag, text in found:
                row, given = rows[flag], text
                if not row.takes_value:
                    _set(values, flag, row, rows)
                    continue
                if given is None:
                    following = WORD.match(line, position)
                    if not following:
                        raise OptionError(f"{flag} needs a value: type {flag} {row.sample}")
                    given, position = _unquoted(following[1]), following.end()
                value = checked(flag, given, row.rule)  # type: ignore[arg-type]
                before = values.get(row.dest, ())
                values[row.dest] = (*before, value) if row.several else value  # type: ignore[misc]
            more, position = self._ahead(line, position)
            words += more
        rest = " ".join([*words, line[position:].strip()]).strip()
        self._refuse_value(found, rest)
        return self.options(**{**self._mine(configured), **values}), rest

    def help(self, configured: Mapping[str, object] = NOTHING) -> str:
        """What `%fwtime?` shows: purpose, usage, options, examples, the Python call.

        Args:
            configured: values by keyword, for what is not typed.
        """
        untyped = vars(self.options(**self._mine(configured)))
        usage = "\n       ".join(self.usage)
        rows = "\n".join(line for row in self.rows for line in _told(row, untyped))
        return f"{self.purpose}\n\nusage: {usage}\n\noptions:\n{rows}\n\n{self.examples}"

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

    def _mine(self, configured: Mapping[str, object]) -> dict[str, Any]:
        """What is configured and is one of its keywords."""
        known = {field.name for field in fields(self.options)}  # type: ignore[arg-type]
        return {name: value for name, value in configured.items() if name in known}


def _told(row: Option, untyped: dict[str, Any]) -> Iterator[str]:
    """The lines of the help that tell of one option."""
    value = f" {row.dest.upper()}" if row.takes_value else ""
    flags = f"  {', '.join(row.flags)}{value}"
    first, *more = textwrap.wrap(row.words.format_map(untyped), _WIDTH - _FLAGS)
    if len(flags) > _FLAGS - 2:
        yield flags
        flags = ""
    yield f"{flags:{_FLAGS}}{first}"
    yield from (f"{'':{_FLAGS}}{line}" for line in more)


def _set(values: dict[str, object], flag: str, row: Option, rows: dict[str, Option]) -> None:
    """Set a keyword to the constant of an option; two long ones that differ contradict."""
    if values.get(row.dest, row.rule) != row.rule and flag.startswith("--"):
        other = next(
            name
            for name, each in rows.items()
            if (each.dest, each.rule) == (row.dest, values[row.dest])
        )
        raise OptionError(f"{other} and {flag} do not go together: leave one out")
    values[row.dest] = row.rule


def _is_code(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    return True


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word
