"""A function in which the line that fails is rewritten by rules, to be tried and then shown."""

import ast
import difflib
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType

from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site, Sources, sites


@dataclass(frozen=True)
class Rewrite:
    """A function as a rule changed it.

    Attributes:
        definition: its tree, with the names that the user's code has for libraries.
        text: the statements that are new, or their heads.
        edit: what the rule changed.
        replaces: the lines that are gone.
    """

    definition: ast.FunctionDef
    text: str
    edit: Edit
    replaces: str = ""


def rewrite(
    function: FunctionType,
    line: int,
    helps: Callable[[Rewrite], bool],
    rules: Sequence[Rule],
    whole: Sequence[Rule] = (),
) -> Iterator[Rewrite]:
    """Yield for each rule the first function that it makes of one and that helps.

    Args:
        function: whose line it is; nothing is yielded where its source is gone.
        line: its number in the file.
        helps: tries a function.
        rules: for the statement that holds the line.
        whole: for the whole body of the function.
    """
    definition = Sources().definition(function)
    if definition is None:
        return
    pairs = [(site, rule) for site in sites(definition, line, function) for rule in rules]
    pairs += [(Site(definition, (("body", 0),), function), rule) for rule in whole]
    for site, rule in pairs:
        helpful = next(filter(helps, _rewritten(site, rule)), None)
        if helpful is not None:
            yield helpful


def _rewritten(site: Site, rule: Rule) -> Iterator[Rewrite]:
    before = Counter(_heads(site.definition))
    for edit in rule(site):
        (new,) = Spelling(site.function).tree([site.edited(edit)]).body
        assert isinstance(new, ast.FunctionDef)
        text = "; ".join(Counter(_heads(new)) - before)
        is_lambda = site.function.__name__ == "<lambda>"
        text, gone = (
            each.removeprefix("return ") if is_lambda else each
            for each in (text, removed_lines(site.definition, new))
        )
        yield Rewrite(new, text, edit, gone)


def removed_lines(old: ast.FunctionDef, new: ast.FunctionDef) -> str:
    """Return the lines of a function's body that another one lacks, with as little indentation.

    Example:
        >>> one, other = (ast.parse(f"def f(x, y): y = 1; return {e}").body[0] for e in "xy")
        >>> removed_lines(one, other)
        'return x'
    """
    before, after = ([*_body_lines(each)] for each in (old, new))
    changed = difflib.ndiff(before, after)
    return textwrap.dedent("\n".join(line[2:] for line in changed if line.startswith("- ")))


def _body_lines(definition: ast.FunctionDef) -> Iterator[str]:
    for statement in definition.body:
        yield from ast.unparse(statement).splitlines()


def _heads(definition: ast.FunctionDef) -> Iterator[str]:
    """Yield statements as they would be written, of those with a body the first line."""
    for node in ast.walk(definition):
        if isinstance(node, ast.stmt) and node is not definition:
            yield ast.unparse(node).partition("\n")[0]
