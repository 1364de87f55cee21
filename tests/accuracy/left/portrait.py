"""What a value holds, drawn so that two of them can be compared: bit for bit, and by attributes.

It shares no code with what it examines: it runs the code of values where that is the simplest way.
"""

import array
import contextvars
import functools
import io
import itertools
import logging
import mmap
import operator
import random
import re
import sqlite3
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, GeneratorType, MappingProxyType, ModuleType
from typing import Any

_ATOMS = (type(None), bool, int, float, complex, str, bytes, range, slice, type(...))
#: Not entered: caches and machinery, which the first of two runs may fill.
_OPAQUE = ("tensorflow", "jaxlib", "jax.", "torch._C", "torch._dynamo", "torch.utils", "IPython",
           "ipyjaxbench", "weakref", "concurrent", "importlib")  # fmt: skip
_DEPTH = 80


class Portrait:
    """Draws values; what it has drawn before is drawn by its number."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, object]] = {}
        self._depth = 0

    def draw(self, value: Any) -> Any:
        """Return lists and tuples of types, numbers and text."""
        if type(value) in _ATOMS:
            return type(value).__name__, repr(value)
        if id(value) in self._seen or self._depth > _DEPTH:
            return "again", self._seen.get(id(value), (-1, None))[0]
        self._seen[id(value)] = len(self._seen), value
        self._depth += 1
        try:
            return type(value).__qualname__, self._drawn(value)
        except Exception as error:  # a closed file, a deleted array
            return type(value).__qualname__, type(error).__name__
        finally:
            self._depth -= 1

    def _all(self, values: Any) -> list[Any]:
        return [self.draw(each) for each in values]

    def _drawn(self, value: Any) -> Any:
        for kind, draw in _by_class():
            if isinstance(value, kind):
                return self._all(draw(value))
        return self._object(value)

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if (kind.__module__ + ".").startswith(_OPAQUE):
            return "opaque"
        if kind.__module__.startswith("keras") and hasattr(value, "variables"):
            return self._all(each.numpy() for each in value.variables)
        slots = [n for k in kind.__mro__ for n in _slots(k) if hasattr(value, n)]
        held = {**getattr(value, "__dict__", {}), **{n: getattr(value, n) for n in slots}}
        inside = []
        for base in (list, tuple, set, frozenset, deque, dict):
            if isinstance(value, base):
                items = value.items() if base is dict else value
                inside = self._all(items)
                inside = sorted(map(repr, inside)) if base in (set, frozenset) else inside
        if not held and not inside and type(value) not in (list, tuple, dict, set, deque):
            inside = [re.sub(r"0x[0-9a-f]+", "", repr(value))]
        return inside, [(name, self.draw(each)) for name, each in held.items()]


def _slots(kind: type) -> tuple[str, ...]:
    names = vars(kind).get("__slots__", ())
    names = (names,) if isinstance(names, str) else tuple(names)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _by_class() -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """Yield classes of what is imported, and what to draw of their objects."""
    yield from _PYTHON
    for name, table in _LIBRARIES.items():
        if (module := sys.modules.get(name)) is not None:
            yield from table(module)


def _function(value: FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    is_users = value.__module__ == "__main__"
    own = [value.__defaults__, value.__kwdefaults__, cells, vars(value)] if is_users else []
    return [value.__qualname__, own]


def _class(value: type) -> list[Any]:
    held = {n: v for n, v in vars(value).items() if not n.startswith("__")}
    return [value.__qualname__, held if value.__module__ == "__main__" else {}]


_ITERATORS = (
    *(type(iter(each)) for each in ([], (), {}, set(), range(0), "")),
    type(reversed([])),
    itertools.count,
    itertools.cycle,
    enumerate,
    zip,
    map,
)
_LOCK, _RLOCK = type(threading.Lock()), type(threading.RLock())
_CACHED = type(functools.lru_cache(len))
_PYTHON: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (ModuleType, lambda v: [v.__name__]),
    (FunctionType, _function),
    (type, _class),
    (MappingProxyType, lambda v: [dict(v)]),
    (GeneratorType, lambda v: [v.gi_frame.f_lasti, dict(v.gi_frame.f_locals)]),
    (_ITERATORS, lambda v: [operator.length_hint(v, -1), repr(v.__reduce__()[2:])]),
    (random.Random, lambda v: [v.getstate()]),
    (io.IOBase, lambda v: [v.tell(), *([v.getvalue()] * hasattr(v, "getvalue"))]),
    (mmap.mmap, lambda v: [v.tell(), v[:]]),
    ((bytearray, memoryview), lambda v: [bytes(v)]),
    (_LOCK, lambda v: [v.locked()]),
    (_RLOCK, lambda v: [re.findall(r"count=\d+", repr(v))]),
    (threading.local, lambda v: [v.__dict__]),
    (threading.Thread, lambda v: [v.is_alive()]),
    (_CACHED, lambda v: [v.cache_info()[1:], v.__wrapped__]),
    (logging.Logger, lambda v: [v.level, v.handlers, v.filters, v.disabled, v.propagate]),
    (contextvars.ContextVar, lambda v: [v.get(None)]),
    (array.array, lambda v: [v.typecode, v.tobytes()]),
    (sqlite3.Connection, lambda v: [v.total_changes]),
)


def _numpy(np: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    def array(v: Any) -> list[Any]:
        numbers = v.tolist() if v.dtype.hasobject else np.asarray(v).tobytes()
        return [str(v.dtype), v.shape, v.flags.writeable, numbers, getattr(v, "__dict__", {})]

    yield np.ndarray, array
    yield np.generic, lambda v: [v.dtype.str, v.tobytes()]
    yield np.random.Generator, lambda v: [v.bit_generator]
    yield np.random.BitGenerator, lambda v: [v.state, v.seed_seq]
    yield np.random.SeedSequence, lambda v: [v.entropy, v.n_children_spawned]
    yield np.random.RandomState, lambda v: [v.get_state()]


def _pandas(pd: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    def axis(v: Any) -> list[Any]:
        return [[*v.names], str(v.dtype), [*v]]

    def table(v: Any) -> list[Any]:
        flag = v.flags.allows_duplicate_labels
        columns = v.items() if v.ndim == 2 else [(v.name, v)]
        held = [(name, str(each.dtype), [*each]) for name, each in columns]
        return [held, axis(v.index), v.attrs, flag, *([axis(v.columns)] * (v.ndim == 2))]

    yield pd.Index, axis
    yield (pd.DataFrame, pd.Series), table


def _pyplot(plt: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    def artist(v: Any) -> list[Any]:
        kinds = [type(each).__name__ for each in v.findobj()]
        lines = [each.get_xydata() for each in v.findobj() if hasattr(each, "get_xydata")]
        texts = [each.get_text() for each in v.findobj() if hasattr(each, "get_text")]
        return [kinds, lines, texts, *([v.get_xlim(), v.get_ylim()] if hasattr(v, "lines") else [])]

    yield sys.modules["matplotlib.artist"].Artist, artist


def _torch(torch: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    def tensor(v: Any) -> list[Any]:
        kind = [str(v.dtype), tuple(v.shape), str(v.layout), str(v.device), v.requires_grad]
        held = v.grad if v.is_leaf else None
        if v.is_meta:
            return [*kind, held]
        dense = v.detach()
        dense = dense.coalesce().to_dense() if v.layout is torch.sparse_coo else dense.to_dense()
        numbers = dense.contiguous().clone().flatten().view(torch.uint8).numpy().tobytes()
        return [*kind, numbers, held, v._version, v.stride() if v.layout is torch.strided else 0]

    yield torch.Tensor, tensor
    yield torch.Generator, lambda v: [v.get_state()]


def _jax(jax: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    def array(v: Any) -> list[Any]:
        if v.is_deleted():
            return ["deleted"]
        is_key = jax.numpy.issubdtype(v.dtype, jax.dtypes.prng_key)
        return [str(v.dtype), sys.modules["numpy"].asarray(jax.random.key_data(v) if is_key else v)]

    yield jax.Array, array
    if hasattr(jax, "Ref"):
        yield jax.Ref, lambda v: [v[...]]


def _tensorflow(tf: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    yield (tf.Variable, tf.Tensor), lambda v: [str(v.dtype), v.numpy()]
    yield tf.random.Generator, lambda v: [v.state]
    tables = tf.lookup.experimental
    yield (tables.MutableHashTable, tables.DenseHashTable), lambda v: [*v.export()]
    yield tf.queue.QueueBase, lambda v: [int(v.size())]
    yield tf.TensorArray, lambda v: [v.stack()]


_LIBRARIES: Mapping[str, Callable[[Any], Iterator[tuple[Any, Callable[[Any], Any]]]]] = {
    "jax": _jax, "tensorflow": _tensorflow, "torch": _torch, "numpy": _numpy, "pandas": _pandas,
    "matplotlib.pyplot": _pyplot,
}  # fmt: skip
