"""Which arguments may have to be static, in the order in which that is tried."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import origin, trees
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import Call, is_a, is_of, message_of, unwrap

_MOST_TRIES = 32
_MANY_TURNS = 1000
_CLOCK = Clock.elapsed()
#: JAX's words where it knows which arguments a failing value comes from, and of which function.
_BLAMED = re.compile(r"depends on the values? of the arguments? (.+?)\.\s", re.DOTALL)
_TRACED = re.compile(r"while tracing the function (\S+)(?: at (.+?):(\d+))? for ")
_BETWEEN = re.compile(r", and |, | and ")
#: Values that are more often a choice than data, the likeliest first.
_CHOICES: tuple[type, ...] = (bool, str, type(None), int, tuple, float)


class Choices:
    """Sets of static arguments of a call, the fewest first, and what became of them.

    Attributes:
        tries: how many sets were given out.
        stopped: whether sets were left when the time was over.
        is_named: whether JAX named what is in the set that was given out last.
    """

    def __init__(self, call: Call) -> None:
        self.tries = 0
        self.stopped = False
        self.is_named = False
        self._call = call
        self._end = 0.0
        self._failures: dict[frozenset[str], BaseException] = {}
        self._next: list[frozenset[str]] = []
        self._first: frozenset[str] = frozenset()

    @property
    def left(self) -> float:
        """Seconds until no further set is given out."""
        return (self._end - _CLOCK.now()) * 1e-9

    def upto(self, seconds: float) -> Iterator[frozenset[str]]:
        """Yield each set, the empty one first; `failed` is called for each that does not trace."""
        self.tries += 1
        yield frozenset()
        self._end = _CLOCK.now() + seconds * 1e9
        for static, is_named in self._ordered(self._candidates()):
            self.is_named = is_named
            self.stopped = self.left <= 0 and not self.is_named
            if self.tries >= _MOST_TRIES or self.stopped:
                return
            self.tries += 1
            yield static

    def failed(self, static: frozenset[str], error: BaseException) -> None:
        """Keep what a set led to; what JAX says of it may lead on."""
        self._failures[static] = error
        more = static.union(self._named(error))
        if static and more != static and more not in self._failures:
            self._next.append(more)

    def has_large(self, static: frozenset[str]) -> bool:
        """Whether a number that is static could be that of very many turns."""
        values = (value for name, value in self._call.arguments if name in static)
        return any(is_of(value, int, float) and value > _MANY_TURNS for value in values)

    def root_failure(self) -> tuple[tuple[str, ...], BaseException]:
        """Return the fault that is left when arguments that only stand in its way are static.

        A flag that Python asks for first hides what comes after it, and is no fault: it can be
        static. So where a static argument leads on to another line, that line is the fault.
        """
        static: frozenset[str] = frozenset()
        while True:
            here = _where(self._failures[static])
            larger = (each for each in self._failures if each > static)
            further = [each for each in larger if _where(self._failures[each]) != here]
            if not further:
                names = tuple(n for n, _ in self._call.arguments if n in static)
                return names, self._failures[static]
            static = min(further, key=len)

    def _ordered(self, candidates: Sequence[str]) -> Iterator[tuple[frozenset[str], bool]]:
        """Yield each set, and whether JAX named what is in it."""
        for size in range(1, len(candidates) + 1):
            for names in itertools.combinations(candidates, size):
                while self._next:
                    more = self._next.pop(0)
                    if more not in self._failures:
                        yield more, True
                static = frozenset(names)
                if static not in self._failures:
                    yield static, static <= self._first

    def _candidates(self) -> list[str]:
        """Return arguments that may be static: those that JAX names first, then the likely ones."""
        ranks = {name: [i for i, kind in enumerate(_CHOICES) if is_a(value, kind)]
                 for name, value in self._call.arguments if _can_be_static(value)}  # fmt: skip
        likely = sorted((name for name, rank in ranks.items() if rank), key=ranks.__getitem__)
        first = self._failures.get(frozenset())
        named = [n for n in self._named(first) if n in likely] if first else []
        self._first = frozenset(named)
        return list(dict.fromkeys([*named, *likely]))

    def _named(self, error: BaseException) -> list[str]:
        arguments = dict(self._call.arguments)
        names = map(_base, blamed(error, self._call))
        return [name for name in names if name in arguments and _can_be_static(arguments[name])]


def blamed(error: BaseException, call: Call) -> list[str]:
    """Return the arguments of a call that JAX's words make responsible.

    Within a scan or another jit these are the arguments of that function: they are left out.
    """
    traced = _TRACED.search(message_of(error))
    return named_in(error, call) if not traced or _is_function(traced, call) else []


def named_in(error: BaseException, call: Call) -> list[str]:
    """Return the arguments of a call that JAX's words name, whichever function it speaks of."""
    return [name for name in words_of_function(error) if _base(name) in dict(call.arguments)]


def words_of_function(error: BaseException) -> list[str]:
    """Return the arguments that JAX's words name, of whichever function."""
    match = _BLAMED.search(message_of(error))
    return _BETWEEN.split(match[1]) if match else []


def _is_function(traced: re.Match[str], call: Call) -> bool:
    """Whether JAX speaks of the called function, and not of one in it."""
    plain = unwrap(call.function)
    code = getattr(plain, "__code__", None)
    name, file, line = traced.groups()
    if code is not None and file is not None:
        return bool((file, int(line)) == (code.co_filename, code.co_firstlineno))
    return bool(name == getattr(call.function, "__name__", type(call.function).__name__))


def _where(error: BaseException) -> tuple[str, object]:
    places = origin.places(error)
    place = (places[0].file, places[0].line) if places else message_of(error).partition("\n")[0]
    return type(error).__name__, place


def _base(name: str) -> str:
    return name.partition("[")[0].partition(".")[0]


def _can_be_static(value: Any) -> bool:
    """Whether `jax.jit` would take it: what cannot be hashed, or holds arrays, it refuses."""
    try:
        hash(value)
    except CODE_ERRORS:  # the object may raise anything
        return False
    return not any(is_a(leaf, jax.Array, np.ndarray) for leaf in trees.leaves(value))


def is_declared(call: Call, name: str) -> bool:
    """Whether `jax.jit` hashes this argument: it refuses one that cannot be, and traces nothing."""
    args = tuple(
        _NoHash() if label == name else arg
        for label, arg in zip(call.labels, call.args, strict=True)
    )
    kwargs = {n: _NoHash() if n == name else value for n, value in call.kwargs.items()}
    try:
        call.function.trace(*args, **kwargs)  # type: ignore[attr-defined]
    except ValueError as error:
        return "on-hashable static arguments" in message_of(error)
    except CODE_ERRORS:  # it is data then, and JAX refuses what is none
        return False
    return False


class _NoHash:
    __hash__ = None  # type: ignore[assignment]
