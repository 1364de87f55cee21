"""Code that stands behind magics in code, as in ``%time x.append(3)``: what it does is done too."""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence

from ipyjaxbench.usercode.syntax import nodes_of

_METHODS = ("run_line_magic", "run_cell_magic")
_MAGIC = re.compile(r"^(\s*(?:[\w, ]+=\s*)?)%+\w+(.*)$", re.MULTILINE)


def statements_in_magics(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements behind magics, as far as what stands there reads as Python.

    Args:
        statements: as IPython spells them in Python.

    Example:
        >>> made = ast.parse("get_ipython().run_line_magic('timeit', '-n 3 f(x)')").body
        >>> [ast.unparse(each) for each in statements_in_magics(made)]
        ['f(x)']
    """
    parsed: list[ast.stmt] = []
    for node in nodes_of(statements):
        match node:
            case ast.Call(ast.Attribute(attr=method), [_, *texts]) if method in _METHODS:
                constants = [t.value for t in texts if isinstance(t, ast.Constant)]
                parsed += [s for text in constants if isinstance(text, str) for s in _parsed(text)]
    return parsed


def _parsed(text: str) -> list[ast.stmt]:
    code = textwrap.dedent(text).strip()
    code = _MAGIC.sub(lambda line: line[1] + _drop_options(line[2].strip()), code)
    return _tree(_drop_options(code)) or []


def _drop_options(text: str) -> str:
    """What is left where words in front are left out until it is Python; a magic has options."""
    return next((rest for rest in _shortened(text) if _tree(rest) is not None), "pass")


def _shortened(text: str) -> Iterator[str]:
    yield text
    while " " in text and "\n" not in text:
        text = text.partition(" ")[2].lstrip()
        yield text


def _tree(code: str) -> list[ast.stmt] | None:
    try:
        tree = ast.parse(code)
        compile(tree, "<magic>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    # ``return 3`` is no code of a cell; a magic may be given anything.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree.body
