"""Puts the names of a session back after code that is to leave none of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.timing import find_rebound_names
from ipyjaxbench.usercode import Snippet


@contextmanager
def names_restored(snippets: Sequence[Snippet], *more: str) -> Iterator[None]:
    """Put back afterwards what names stand for, and remove those that the code has bound.

    Names that are new and that it did not bind stay: PyTorch's compiled functions, for one, call
    what the compiler keeps under names of its own in their module.
    ``more`` are names that others bind meanwhile.
    """
    names = snippets[0].names
    before = dict(names)
    try:
        yield
    finally:
        bound = {
            *more,
            *(name for each in snippets for name in each.binds),
            *_names_bound_by_calls(snippets),
        }
        bound.add("__builtins__")  # Python puts it into a dictionary in which it executes code
        any_name = any(each.looks_at_names for each in snippets)
        for name in [*(names.keys() - before.keys()), *before]:
            is_theirs = name in bound or (any_name and not name.startswith("_"))
            if name not in before and is_theirs:
                del names[name]
            elif name in before and (name in names or is_theirs):
                names[name] = before[name]


def _names_bound_by_calls(snippets: Sequence[Snippet]) -> list[str]:
    """Names that functions bind which the code can call, as after ``global n``."""
    names = snippets[0].names
    read = [names[name] for each in snippets for name in each.reads if name in names]
    return find_rebound_names(find_reach(read, loaded()[0]).functions, names)
