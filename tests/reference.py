"""Writes the tables of `examples/reference.md` from the code: ``python -m tests.reference``.

A table stands between ``<!-- kind names -->`` and ``<!-- end -->``; all else is written by hand.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

from traitlets.config import Configurable

import ipyjaxbench
from ipyjaxbench.command import ShownOptions
from ipyjaxbench.jupyter.commands import COMMANDS
from ipyjaxbench.jupyter.settings import IpyJaxBench
from ipyjaxbench.option import Option, options_of
from ipyjaxbench.purposes import MAGICS
from ipyjaxbench.reports.result import Reported, Result
from ipyjaxbench.retracing.traces import STATES
from ipyjaxbench.server.settings import IpyJaxBenchServer
from ipyjaxbench.steps import BOUND_MEANINGS
from ipyjaxbench.timing import VERDICT_MEANINGS
from tests.test_notes import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "examples" / "reference.md"
_TABLE = re.compile(r"^(<!-- (\w+)((?: \w+)*) -->\n).*?^(<!-- end -->)$", re.MULTILINE | re.DOTALL)
#: One line of an "Attributes:" section, and the lines that go on from it.
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n {5,}.+)*)", re.MULTILINE)
_TYPED = re.compile(r"(?<![\w-])(%%?[a-z]\w+|--?[a-z][\w-]*)")  # magics and options
_LINK = re.compile(r"\]\(([^):]+)\)")  # of files here; others have a colon
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

Rows = Iterable[tuple[str, ...]]


def write_tables(text: str) -> str:
    """Return the text with each table as the code has it now."""
    return _TABLE.sub(
        lambda found: f"{found[1]}\n{_KINDS[found[2]](*found[3].split())}\n{found[4]}", text
    )


def tables_of(kind: str) -> set[str]:
    """The names behind the kind in all marks of that kind: what has a table."""
    text = REFERENCE.read_text("utf-8")
    return {name for _, found, names, _ in _TABLE.findall(text) if found == kind
            for name in names.split()}  # fmt: skip


def broken_links(page: Path) -> list[str]:
    """The targets of a page's links that lead nowhere."""
    return [each for each in _LINK.findall(page.read_text("utf-8")) if not _leads(page, each)]


def _leads(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    other = page.parent / path if path else page
    return other.exists() and (not anchor or anchor in _anchors(other.read_text("utf-8")))


def _anchors(text: str) -> set[str]:
    """What GitHub calls the headings of a page."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in _HEADING.findall(text)}  # fmt: skip


def _table(head: tuple[str, ...], rows: Rows) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    """A text as a table takes it: one line, Markdown's own quotes, no bar."""
    return " ".join(text.replace("``", "`").split()).replace("|", "\\|")


def _options(magic: str) -> str:
    shown = options_of(ShownOptions)
    if magic == "all":
        return _table(("option of every magic", "what it does"), map(_option, shown))
    command = COMMANDS[magic]
    untyped = vars(command.options())
    own = [row for row in command.rows if row not in shown]
    head = (f"option of `{command.typed}`", "what it does")
    return _table(head, (_option(row, untyped) for row in own))


def _option(row: Option, untyped: dict[str, object] | None = None) -> tuple[str, str]:
    value = f" {row.placeholder}" if row.takes_value else ""
    flags = ", ".join(f"`{flag}{value}`" for flag in row.flags)
    was = f" (was `{row.old}`)" if row.old else ""
    return flags + was, _quoted(row.help.format_map(untyped or {}))


def _quoted(text: str) -> str:
    """A text of the help, which is plain ASCII, with marks around what is typed."""
    return text.replace("+-", "±") if "`" in text else _TYPED.sub(r"`\1`", text.replace("+-", "±"))


def _settings(owner: type[Configurable] = IpyJaxBench) -> str:
    traits = owner.class_own_traits(config=True)
    head = ("setting", "default", "what it does")
    return _table(head, ((f"`{name}`", f"`{each.default_value}`", _quoted(each.help))
                         for name, each in sorted(traits.items())))  # fmt: skip


def _magics() -> str:
    return _table(
        ("magic", "what it does"), ((f"`{m}`", _quoted(does)) for m, does in MAGICS.items())
    )


def _meanings(head: str, words: dict[str, str]) -> str:
    return _table((head, "what it means"), ((f"`{word}`", each) for word, each in words.items()))


def _functions() -> str:
    found = sorted((name, getattr(ipyjaxbench, name)) for name in ipyjaxbench.__all__)
    rows = ((f"`{name}{_arguments(each)}`", _first_line(each))
            for name, each in found if name.islower() and callable(each))  # fmt: skip
    return _table(("function", "what it does"), rows)


def _errors() -> str:
    found = [getattr(ipyjaxbench, name) for name in sorted(ipyjaxbench.__all__)]
    errors = [each for each in found if isinstance(each, type) and issubclass(each, Exception)]
    return _table(("error", "when"), ((f"`{each.__name__}`", _first_line(each)) for each in errors))


def _arguments(function: Callable[..., object]) -> str:
    """The arguments of a function as they are typed, without their types."""
    signature = inspect.signature(function)
    bare = [each.replace(annotation=inspect.Parameter.empty)
            for each in signature.parameters.values()]  # fmt: skip
    return str(inspect.Signature(bare))


def _attributes(name: str) -> str:
    kind = Result if name == "Result" else getattr(ipyjaxbench, name)
    above = _members(Reported) if kind is Result else []
    rows = [*above, *_members(kind), *_parts(kind)]
    return _table((f"`{name}`", _first_line(kind)), rows)


def _parts(kind: type) -> Iterator[tuple[str, str]]:
    """Rows of what attributes hold, where that is of a class without a table of its own."""
    if not is_dataclass(kind):
        return
    told: dict[type, str] = {}
    for field, hint in get_type_hints(kind).items():
        for part, several in _classes(hint):
            path = f"{field}[i]" if several else field
            if part in told:
                yield f"`{path}`", f"has the attributes of `{told[part]}`"
            elif part.__name__ not in ipyjaxbench.__all__:
                told[part] = path
                rows = [row for row in _members(part) if "(" not in row[0]]
                yield from ((f"`{path}.{row[1:]}", text) for row, text in rows)


def _classes(hint: object, *, several: bool = False) -> Iterator[tuple[type, bool]]:
    """Our own classes in the type of a field, and whether a container holds them."""
    if isinstance(hint, type) and is_dataclass(hint) and hint.__module__.startswith("ipyjaxbench"):
        yield hint, several
    held = several or get_origin(hint) in (tuple, Sequence)
    for part in get_args(hint):
        yield from _classes(part, several=held)


def _notes() -> str:
    notes = [made for made, _ in EXAMPLES]
    rows = ((f"`{each.mark}` `{each.code}`", each.text, each.advice) for each in notes)
    return _table(("note", "for example", "what to write instead"), rows)


def _members(kind: type) -> list[tuple[str, str]]:
    """A row for each attribute and method that a class has of its own."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    listed = re.search(r"^Attributes:\n((?:(?: .*)?\n?)*)", doc, re.MULTILINE)
    fields = _ATTRIBUTE.findall(listed[1]) if listed else []
    rows = [(f"`{field}`", text) for field, text in fields]
    for member, value in vars(kind).items():
        if member.startswith("_") or member in dict(fields) or member == "check":
            continue
        if isinstance(value, property | cached_property):
            rows.append((f"`{member}`", _first_line(value)))
        elif callable(value) or isinstance(value, classmethod):
            function = value.__func__ if isinstance(value, classmethod) else value
            shown = re.sub(r"^\((?:self|cls)(?:, )?", "(", _arguments(function))
            rows.append((f"`{member}{shown}`", _first_line(function)))
    return rows


def _first_line(documented: object) -> str:
    """The first sentence of a docstring."""
    return inspect.cleandoc(documented.__doc__ or "").split("\n\n")[0]


_KINDS: dict[str, Callable[..., str]] = {
    "magics": _magics,
    "options": _options,
    "settings": _settings,
    "server_settings": lambda: _settings(IpyJaxBenchServer),
    "verdicts": lambda: _meanings("verdict", VERDICT_MEANINGS),
    "loop_verdicts": lambda: _meanings("verdict", BOUND_MEANINGS),
    "states": lambda: _meanings("state", {k: v for k, v in STATES.items() if k != "?"}),
    "functions": _functions,
    "errors": _errors,
    "attributes": _attributes,
    "notes": _notes,
}


if __name__ == "__main__":
    REFERENCE.write_text(write_tables(REFERENCE.read_text("utf-8")), "utf-8")
