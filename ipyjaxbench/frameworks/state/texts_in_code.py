"""What code comes to by texts that are written in it: names in `exec("...")`, in `globals()`."""

import ast
import functools
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from ipyjaxbench.usercode import is_exactly, names_in

_RUN = frozenset(("exec", "eval"))  # functions that run a text
_LOOK_UP = frozenset(("globals", "f_globals"))  # what gives the namespace
_IMPORT = frozenset(("import_module", "__import__"))
_MODULES = frozenset(("sys", "modules"))  # both
_LONGEST = 10_000  # characters of a text that is read as code; of others all words count
_WORD = re.compile(r"[^\W\d]\w*")


def runs_texts(called: Iterable[str]) -> bool:
    """Whether code that calls these runs texts; `model.eval()` does not."""
    return not _RUN.isdisjoint(called)


def names_by_text(used: Collection[str], texts: Collection[str], *, runs: bool) -> Iterator[str]:
    """Yield names that code comes to by the texts in it, which it may run."""
    if runs:
        yield from (name for text in texts for name in _names_in_text(text))
    if not _LOOK_UP.isdisjoint(used):
        yield from texts


def modules_by_text(used: Collection[str], texts: Iterable[str]) -> Iterator[str]:
    """Yield texts that may be names of modules which code imports, or looks up."""
    if not _IMPORT.isdisjoint(used) or _MODULES.issubset(used):
        yield from texts


def names_in_variables(used: Collection[str], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield names in texts, and in compiled code, that variables stand for."""
    for value in (values[name] for name in used if name in values):
        if is_exactly(value, str):
            yield from _names_in_text(value)
        elif is_exactly(value, CodeType):
            yield from names_in(value)


@functools.lru_cache(maxsize=1024)
def _names_in_text(text: str) -> tuple[str, ...]:
    if len(text) > _LONGEST:
        return tuple(dict.fromkeys(_WORD.findall(text)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's text, which nobody runs here
            tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it is no code
        return ()
    names = (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
    return tuple(dict.fromkeys(names))
