"""A comparison's cell, read as labelled arms: ``label: code``, or a label above an indented block.

A label takes the place of ``if 1`` in front of what follows it, so that Python itself reads the
block, and strings and line numbers stay as they were typed.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.usercode import Source
from ipyjaxbench.validation import checked, label

_LABEL = re.compile(r"(\w[^:]*?)\s*:(?!=)")
#: What is neither a label nor Python, such as ``<b>: f(x)``.
_NO_LABEL = re.compile(r"([^\w\s:#'\"()\[\]{}=,;\\@!%][^:#'\"()\[\]{}=,;\\]*):(?!=)")
#: A line as in a dictionary, ``"a": f(x),``.
_QUOTED = re.compile(r"""\s*((["'])([^"':]*)\2\s*:\s*(.+?),?)\s*$""")
_ESCAPED = ("!", "%")  # what IPython alone understands
_BLOCK = "if 1"
_SETUP = "setup"
#: Code with the name of its file and its compiler flags -> its tree.
Parse = Callable[[str], ast.Module]


@dataclass(frozen=True)
class ArmSource:
    """One arm of a comparison."""

    label: str  # its name
    source: Source  # what is timed
    # what runs, untimed, before each of its samples; None where there is nothing
    setup: Source | None = None


@dataclass(frozen=True)
class Cell:
    """What a comparison's cell holds."""

    arms: tuple[ArmSource, ...]  # in the order in which they were written
    setup: Source | None = None  # what stands above them and runs once; None where there is nothing


def read_cell(text: str, parse: Parse, filename: str, flags: int = 0, *, fewest: int = 2) -> Cell:
    r"""Return the arms and the common setup of a cell, which begins at line 1 of its file.

    ``parse`` makes a tree of Python code with the same line numbers; ``flags`` are the compiler's,
    and ``fewest`` is the number of arms that it takes.

    Example:
        >>> cell = read_cell("a: f(x)\nb:\n  y = g(x)\n", ast.parse, "<cell>")
        >>> [(arm.label, arm.source.text) for arm in cell.arms]
        [('a', 'f(x)'), ('b', 'y = g(x)')]
    """
    lines = text.splitlines(keepends=True)
    labelled = [i for i, line in enumerate(lines) if _label(line)]
    above = parse("")
    while True:
        first = labelled[0] if labelled else len(lines)
        try:
            above = parse("".join(lines[:first]))
            break
        except SyntaxError as error:
            # What looks like the first label may stand in a string or a dictionary.
            if not labelled or not _is_unfinished(error):
                raise _explained(error) from None
            del labelled[0]
    common = [*above.body]
    sources: dict[str, Source] = {}
    setups: dict[str, Source] = {}
    for start, tree, shown in _chunks(lines, labelled, parse):
        words = _label(lines[start])
        source = Source(tree, shown, filename, flags)
        kind, _, of = words.partition(" ")
        if words == _SETUP:
            common += tree.body
            continue
        parts, name = (setups, of.strip()) if kind == _SETUP else (sources, words)
        _refuse_annotation(words, tree)
        if name in parts:
            raise SnippetError(f"{words!r} appears twice: labels must be unique")
        parts[name] = source
    _refuse_dictionary(common if not sources else [])
    _refuse(sources, setups, fewest)
    arms = tuple(ArmSource(name, source, setups.get(name)) for name, source in sources.items())
    setup = Source(ast.Module(common, []), "", filename, flags) if common else None
    return Cell(arms, setup)


def arm_labels(text: str) -> list[str]:
    r"""Return the labels of the arms in a cell that is still being written.

    Example:
        >>> arm_labels("a: f(x)\nsetup a: x = 1\nb:\n  y = g(x)\n")
        ['a', 'b']
    """
    labels = dict.fromkeys(_label(line) for line in text.splitlines())
    return [each for each in labels if each and each.split()[0] != _SETUP]


def transform_arms(text: str, transform: Callable[[str], str]) -> str:
    """Spell shell commands and magics behind a label as IPython spells them in Python."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if _label(line):
            head, colon, code = line.partition(":")
            if code.strip().startswith(_ESCAPED):
                lines[number] = f"{head}{colon} {transform(code.strip())}"
    return "".join(lines)


def _refuse_annotation(name: str, tree: ast.Module) -> None:
    """Refuse ``n: int = 3``, which would be an arm that binds ``int``."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        kind = next((n for n in names if isinstance(getattr(builtins, n, 0), type)), None)
        if kind is not None:
            code = ast.unparse(node)
            raise SnippetError(
                f"'{name}: {code}' would be read as an arm: remove the annotation {kind}"
            )


def _refuse_dictionary(statements: Sequence[ast.stmt]) -> None:
    """Refuse arms in braces: where there is no label, these are one value."""
    match statements[-1:]:
        case [ast.Expr(ast.Dict(keys=[ast.Constant(str() as first), *_], values=[value, *_]))]:
            raise SnippetError(
                "a dictionary is one value, not several arms: type one per line without braces,"
                f" for example  {first}: {ast.unparse(value)}"
            )


def _refuse(sources: dict[str, Source], setups: dict[str, Source], fewest: int) -> None:
    if not sources:
        raise SnippetError("no arms found: write one per line, for example  numpy: np.dot(a, b)")
    if len(sources) < fewest:
        (only,) = sources
        raise SnippetError(
            f"{only!r} is the only arm, but a comparison needs two: add a line"
            "  label: code  or use %fwtime"
        )
    for name in setups.keys() - sources.keys():
        raise SnippetError(f"'setup {name}': no such arm; the arms are {', '.join(sources)}")


def _label(line: str) -> str:
    """Return the label with which a line begins; "" where it begins with none.

    One that is too long is still one, so that it is refused by the rule, not as bad Python.
    """
    match = _LABEL.match(line)
    words = " ".join(match[1].split()) if match else ""
    own = words.removeprefix(f"{_SETUP} ") if words != _SETUP else ""
    try:
        label(own or "a", len(line))
    except ValueError:
        return ""
    return words


def _chunks(
    lines: Sequence[str], labelled: Sequence[int], parse: Parse
) -> Iterator[tuple[int, ast.Module, str]]:
    """Return for each part where it begins, its statements, and its code as it was typed."""
    ends = [*labelled[1:], len(lines)]
    at = 0
    while at < len(labelled):
        start, reached = labelled[at], at
        while True:
            try:
                tree = parse(_as_block(lines, start, ends[reached]))
                break
            except SyntaxError as error:
                # What looks like the next label may stand in a string of many lines.
                if reached + 1 == len(ends) or not _is_unfinished(error):
                    raise _explained(error, lines[start]) from None
                reached += 1
        part = lines[start : ends[reached]]
        yield start, _statements(tree, part[0], start + 1), _typed(part)
        at = reached + 1


def _as_block(lines: Sequence[str], start: int, end: int) -> str:
    head = lines[start][lines[start].index(":") :]
    return "\n" * start + _BLOCK + head + "".join(lines[start + 1 : end])


def _is_unfinished(error: SyntaxError) -> bool:
    return "unterminated" in str(error.msg) or "never closed" in str(error.msg)


def _explained(error: SyntaxError, labelled: str = "") -> Exception:
    """Return an error that names the rule which was broken, or the one that Python raised."""
    if "expected an indented block" in str(error.msg):
        return SnippetError(
            f"{_label(labelled)!r} has no code: write it after the colon, or indented below"
        )
    if match := _QUOTED.match(error.text or ""):
        typed, quote, words, code = match.groups()
        return _broken(words) or SnippetError(
            f"{quote}{words}{quote} in {typed.strip()!r} is a string, as in a dictionary: type"
            f"  {words}: {code}"
        )
    if match := _NO_LABEL.match(error.text or ""):
        return _broken(match[1]) or error
    return error


def _broken(words: str) -> OptionError | None:
    """Return the error of a label that breaks a rule."""
    try:
        checked(words, label, typed=f"label {words!r}", example="a")
    except OptionError as broken:
        return broken
    return None


def _statements(tree: ast.Module, line: str, number: int) -> ast.Module:
    """Return the statements of the block, with the columns that the user sees."""
    block, *more = tree.body
    assert isinstance(block, ast.If)
    if block.orelse or more:
        stray = block.orelse[0] if block.orelse else more[0]
        raise SnippetError(
            f"line {stray.lineno} belongs to no arm: indent it under a label, or give it a label"
        )
    shift = len(line[: line.index(":")].encode()) - len(_BLOCK)
    for node in ast.walk(block):
        if getattr(node, "lineno", 0) == number:
            node.col_offset += shift  # type: ignore[attr-defined]
        if getattr(node, "end_lineno", 0) == number:
            node.end_col_offset += shift  # type: ignore[attr-defined]
    return ast.Module(block.body, [])


def _typed(lines: Sequence[str]) -> str:
    """Return the code without its label, for a line of the report."""
    head = lines[0].partition(":")[2]
    return "\n".join(line.strip() for line in (head, *lines[1:])).strip()
