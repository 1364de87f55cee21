"""Names that code gives as text: to `getattr` and `operator.attrgetter`, to `eval` and `exec`."""

import ast
import functools
import operator
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any

from ipyjaxbench.usercode.code_objects import globals_in, names_in, texts_in
from ipyjaxbench.usercode.host_calls import traced_names
from ipyjaxbench.usercode.objects import is_exactly

_TAKE_NAMES = {"getattr", "attrgetter", "methodcaller", "hasattr"}
_RUN_TEXT = {"eval", "exec"}


def names_used(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, attributes among them, also those that it takes by texts."""
    yield from traced_names(code)
    if not _TAKE_NAMES.isdisjoint(names_in(code)):
        for text in texts_in(code):
            yield from filter(str.isidentifier, text.split("."))


def names_of_getter(value: Any) -> Iterator[str]:
    """Yield the names of attributes that an `operator.attrgetter` takes.

    Example:
        >>> [*names_of_getter(operator.attrgetter("a.b", "c"))], [*names_of_getter(operator)]
        (['a', 'b', 'c'], [])
    """
    if is_exactly(value, operator.attrgetter):
        for dotted in value.__reduce__()[1]:
            yield from dotted.split(".")


@functools.lru_cache(maxsize=256)
def codes_as_text(code: CodeType) -> tuple[CodeType, ...]:
    """Return the code of texts that are written in code which calls `eval` or `exec`."""
    if _RUN_TEXT.isdisjoint(globals_in(code)):
        return ()
    found = (_compiled(text) for text in texts_in(code))
    return tuple(each for each in found if each is not None)


def runs_unknown_text(code: CodeType) -> bool:
    """Whether code calls `eval` or `exec`, and has no text that it could give them."""
    return not _RUN_TEXT.isdisjoint(globals_in(code)) and not codes_as_text(code)


def _compiled(text: str) -> CodeType | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what stands in a text that may be no code
        try:
            return compile(ast.parse(text), "<text>", "exec")
        except (SyntaxError, ValueError):
            return None
