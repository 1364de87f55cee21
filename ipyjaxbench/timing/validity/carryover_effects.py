"""What calls leave to the calls after them: values kept, iterators used up, containers grown."""

import ast
import enum
import functools
import inspect
import itertools
import operator
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from ipyjaxbench import stats
from ipyjaxbench.frameworks import Framework, Scope, find_arrays
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.isolation import find_rebound_names
from ipyjaxbench.timing.names_in_code import find_passed_names
from ipyjaxbench.timing.validity import growth_notes, notes as validity_notes
from ipyjaxbench.timing.validity.container_growth import ContainerGrowth, find_rise
from ipyjaxbench.timing.validity.used_up import UsedUp, did_more
from ipyjaxbench.usercode import (
    Snippet,
    attributes,
    is_exactly,
    is_users_function,
    items_of,
    look_up,
    module_of,
    nodes_of,
)

#: They are the same object in every call without anyone having kept them.
_SHARED = (
    *(type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes, range),
    *(type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, enum.Enum),
)
_CACHE = type(functools.lru_cache(len))
_WRAPPING_ITERATORS = (map, zip, filter, enumerate)
_MAX_VALUES_INSIDE, _MAX_DEPTH = 10_000, 2
_CACHED_RATIO = 5  # a first call slower so many times looked up nothing
#: Nanoseconds that calls may take beside a look-up, to prepare it for example.
_MOST_BESIDE_NS = 100_000
#: Nanoseconds in which something that can be changed in place may still be computed anew.
_LOOK_UP_NS = 3000
_STRICT_TREND, _TREND_PARTS = 0.95, 6  # of samples that rise without a cause that is seen


class CarryoverEffects:
    """Finds what one call leaves for the next: names, changed values, iterators moved on.

    It looks before the first call, after it, and after the last one, and calls nothing of the
    user's.
    """

    def __init__(
        self,
        scope: Scope,
        frameworks: Sequence[Framework],
        remade: Sequence[str],
    ) -> None:
        snippet = scope.snippet
        self.remade = frozenset(remade)  # names that the set-up binds before each sample
        self._snippet = snippet
        self._scope = scope
        self._frameworks = frameworks
        anew = {*remade, *(n for n in snippet.binds if n not in snippet.carried)}
        self._known = {n: v for n, v in scope.read_values.items() if n not in anew}
        self._caches = [f for f in scope.functions if type(f) is _CACHE]
        self._filled = [f.cache_info() for f in self._caches]
        statements = [*snippet.statements, *snippet.in_magics]
        handed = set(find_passed_names(statements))
        self._iterators = {n: v for n, v in self._known.items() if n in handed and _may_end(v)}
        self._ended_before = {n for n, v in self._iterators.items() if _has_ended(v)}
        others = {n: v for n, v in scope.captured.items() if n not in self._iterators}
        self._iterators |= {n: v for n, v in others.items() if _may_end(v) and not _has_ended(v)}
        self._ended: list[str] = []
        #: What only the first call finds, beside iterators of Python's own.
        self.used_up = UsedUp(statements, {**scope.captured, **self._known})
        self._missed = [0] * len(self._caches)  # by the first call
        #: Containers that calls make longer.
        self.growth = ContainerGrowth(
            {**scope.captured, **self._known},
            lambda: {n: snippet.names[n] for n in remade if n in snippet.names},
        )
        self._rebound = find_rebound_names(scope.functions, snippet.names)
        self._inside = {id(value) for value in self._values_inside()}
        self._held: Callable[[], object] | None = None
        self._same = self._compiled = False

    def inspect_first_call(self, value: object, *, held: bool, compiled: bool = False) -> None:
        """Look after the first call; its value is remembered where something else holds it.

        ``compiled`` says that it compiled something.
        """
        self._compiled = compiled
        self._ended = [n for n, v in self._iterators.items() if _has_ended(v)]
        filled = [f.cache_info() for f in self._caches]
        self._missed = [n.misses - b.misses for n, b in zip(filled, self._filled, strict=True)]
        self._filled = filled
        name = _bound_last(self._snippet.statements)
        if name is not None:
            value, held = self._snippet.names.get(name), True
        self.used_up.inspect_first_call(value)
        if held and not issubclass(type(value), _SHARED) and self._was_put_away(value):
            self._held = _remembered(value, self._frameworks)

    def _was_put_away(self, value: object) -> bool:
        """Whether the first call put it where later ones can find it."""
        return id(value) not in self._inside and any(v is value for v in self._values_inside())

    def _values_inside(self) -> Iterator[object]:
        """Items of containers and attributes of plain objects that the code can reach.

        Values of names that functions bind are among them, as by ``global model``.
        """
        bound = [self._snippet.names.get(name) for name in self._rebound]
        values = [bound, *self._scope.captured.values(), *self._known.values()]
        return itertools.islice(_inside(values, _MAX_DEPTH), _MAX_VALUES_INSIDE)

    def inspect_later_value(self, again: Callable[[], object], first: int, later: float) -> None:
        """Make one more call where the first one's value seems to be kept, and look at its own.

        ``first`` and ``later`` are the nanoseconds of calls, compilation left out.
        """
        __tracebackhide__ = True
        name = _bound_last(self._snippet.statements)

        def call() -> object:
            __tracebackhide__ = True
            value = again()
            return value if name is None else self._snippet.names.get(name)

        self.used_up.inspect_later_value(call, first, later)
        if self._held is not None and self._held() is not None and did_more(first, later):
            value = call()
            self._same = value is not None and self._held() is value

    def cached_values(self, calls: int, first: int, later: float) -> Iterator[Note]:
        """Note values that were computed once; ``first`` and ``later`` as before."""
        slower = did_more(first, later)
        shown = _called_last(self._snippet.statements)
        for cache, before, missed in zip(self._caches, self._filled, self._missed, strict=True):
            now = cache.cache_info()
            only_hits = now.misses == before.misses and now.hits - before.hits >= calls - 1 > 0
            outright = shown is not None and look_up(shown, self._scope.read_values) is cache
            # A look-up inside of other work matters where it was most of the first call, and
            # where the user wrote it: libraries look up small things in passing.
            inside = first > _CACHED_RATIO * later and is_users_function(cache.__wrapped__)
            if missed and only_hits and (outright or inside):
                # Calls that then compute something else are what was to be timed.
                computes = not outright and (self._compiled or later > _MOST_BESIDE_NS)
                name, emptying = f"{cache.__name__}(...)", self._emptying(cache)
                yield (
                    validity_notes.part_cached(name, emptying)
                    if computes
                    else validity_notes.value_cached(name, first * 1e-9, later * 1e-9, emptying)
                )
                return
        if self._same and slower and (self._cannot_change() or later < _LOOK_UP_NS):
            name = ast.unparse(shown) + "(...)" if shown is not None else _last(self._snippet)
            yield validity_notes.value_cached(name, first * 1e-9, later * 1e-9)

    def _emptying(self, cache: object) -> str:
        """The code, with the cache emptied in each call; "" where it has no name in the code."""
        named = [n.func for n in nodes_of(self._snippet.statements) if isinstance(n, ast.Call)]
        found = (n for n in named if look_up(n, self._scope.read_values) is cache)
        name = next((ast.unparse(node) for node in found), "")
        if not name:
            names = {**self._scope.read_values, **self._scope.captured, **self._snippet.names}
            name = next((n for n, value in names.items() if value is cache), "")
        code = self._snippet.text
        below = "" if "\n" in code else f"; {code}"
        return f"{name}.cache_clear(){below or ' as its first line'}" if name else ""

    def _cannot_change(self) -> bool:
        """Whether the value is an array of a kind that is never changed in place."""
        value = self._held() if self._held else None
        return any(f.owns(type(value)) and f.immutable for f in self._frameworks)

    def exhausted_iterators(self) -> dict[str, Note]:
        """Iterators that had nothing left for later calls, by name."""
        return {n: validity_notes.used_up(n, before=n in self._ended_before) for n in self._ended}

    def has_exhausted(self, name: str) -> bool:
        """Whether it is among them."""
        return name in self._ended

    def growing_containers(self, calls: int, samples: Sequence[float]) -> Iterator[Note]:
        """Note containers that grew with every call, or that calls got slower without any."""
        rise = find_rise(samples)
        found = [*self.growth.notes(calls, samples, rise)]
        yield from found
        if rise and not found and rise.order > _STRICT_TREND and _rises(samples):
            yield growth_notes.slows_down(*rise.ends)


def _last(snippet: Snippet) -> str:
    """The last expression, as ``model.table``."""
    last = snippet.statements[-1]
    return ast.unparse(last.value) if isinstance(last, ast.Expr) else ast.unparse(last)


def _bound_last(statements: Sequence[ast.stmt]) -> str | None:
    """The name that the last statement binds, as ``y`` in ``y = f(x)``."""
    last = statements[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        return last.targets[0].id
    return None


def _inside(values: Iterable[object], depth: int) -> Iterator[object]:
    for value in values:
        inside: list[object] = []
        if is_exactly(value, list, tuple, deque, dict):
            inside = [*items_of(value, 0)]
        elif not issubclass(type(value), _SHARED):
            inside = [*attributes(value).values()]
        yield from inside
        if depth > 1:
            yield from _inside(inside, depth - 1)


def _remembered(value: object, frameworks: Sequence[Framework]) -> Callable[[], object] | None:
    """Return a way back to the value that does not hold it, or that holds no arrays."""
    try:
        return weakref.ref(value)
    except TypeError:
        pass
    return None if find_arrays(value, frameworks) else lambda: value


def _rises(samples: Sequence[float]) -> bool:
    """Whether it does so all the way: a step, as from a busy machine, is no growth."""
    size = len(samples) // _TREND_PARTS
    parts = [stats.median(samples[i * size : (i + 1) * size]) for i in range(_TREND_PARTS)]
    rise = parts[-1] - parts[0]
    return all(b - a > 0.4 * rise / (_TREND_PARTS - 1) for a, b in itertools.pairwise(parts))


def _called_last(statements: Sequence[ast.stmt]) -> ast.expr | None:
    """What is called last, as ``f`` in ``y = f(x)``."""
    last = statements[-1]
    if isinstance(last, ast.Expr | ast.Assign) and isinstance(last.value, ast.Call):
        return last.value.func
    return None


def _may_end(value: object) -> bool:
    kind = type(value)
    return kind is GeneratorType or (module_of(kind) == "builtins" and issubclass(kind, Iterator))


def _has_ended(value: Any) -> bool:
    """Whether an iterator of Python's own has nothing left to give; nothing is taken from it."""
    kind = type(value)
    if kind is GeneratorType:
        return inspect.getgeneratorstate(value) == inspect.GEN_CLOSED
    if is_exactly(value, *_WRAPPING_ITERATORS):
        inside = value.__reduce__()[1]
        return any(_has_ended(each) for each in inside if _may_end(each))
    if module_of(kind) == "builtins" and issubclass(kind, Iterator):
        return operator.length_hint(value, 1) == 0
    return False
