"""Values that stand for work which is done later: what they are, and what to write instead."""

import ast
import asyncio
import sys
from collections.abc import Iterator, Mapping
from concurrent import futures
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, NamedTuple

from ipyjaxbench.usercode import ask, attribute, is_of, module_of, mro_of, name_of


class Deferred(NamedTuple):
    """What a value is, and code that does the work; ``{}`` stands for the user's expression."""

    kind: str
    advice: str

    def instead_of(self, code: str) -> str:
        """What to write instead of an expression, or of code that ends with one.

        Example:
            >>> Deferred("query", "{}.collect()").instead_of("a + b")
            '(a + b).collect()'
        """
        code = " ".join(code.split())
        if not self.advice.startswith(("{}.", "await ")):
            return self.advice.format(code)
        return self.advice.format(code if _is_primary(code) else f"({code})")


_GENERATOR = Deferred("generator", "list({})")
_KINDS: Mapping[type, Deferred] = {
    CoroutineType: Deferred("coroutine", "await {}"),
    GeneratorType: _GENERATOR,
    AsyncGeneratorType: Deferred("generator", "consume it in an async function and time that"),
    asyncio.Future: Deferred("task", "await {}"),
    futures.Future: Deferred("future", "{}.result()"),
    map: Deferred("map", "list({})"),
    filter: Deferred("filter", "list({})"),
}
#: By package and class: asking for a class would import the package.
_NAMED: Mapping[tuple[str, str], Deferred] = {
    ("polars", "LazyFrame"): Deferred("lazy frame", "{}.collect()"),
    ("polars", "InProcessQuery"): Deferred("query", "{}.fetch_blocking()"),
    ("pyspark", "DataFrame"): Deferred("query", "{}.collect()"),
    ("pyspark", "RDD"): Deferred("query", "{}.collect()"),
    ("duckdb", "DuckDBPyRelation"): Deferred("query", "{}.fetchall()"),
    ("_duckdb", "DuckDBPyRelation"): Deferred("query", "{}.fetchall()"),
    ("ibis", "Expr"): Deferred("query", "{}.execute()"),
    ("ray", "ObjectRef"): Deferred("reference", "ray.get({})"),
    ("multiprocessing", "IMapIterator"): _GENERATOR,
    ("subprocess", "Popen"): Deferred("process", "{}.wait()"),
    ("asyncio", "Process"): Deferred("process", "await {}.wait()"),
}
#: By what a class can do, in whatever library: the methods that it has -> what it is.
_ABLE: tuple[tuple[frozenset[str], Deferred], ...] = (
    (frozenset({"result", "done", "add_done_callback"}), Deferred("future", "{}.result()")),
    (frozenset({"wait", "done", "then"}), Deferred("future", "{}.wait()")),
    (frozenset({"get", "ready", "wait", "successful"}), Deferred("pending result", "{}.get()")),
)


def find_deferred(value: object) -> Deferred | None:
    """What a value is whose work is done later; None for any other. No attribute of it is read.

    Example:
        >>> find_deferred(map(str, [1]))
        Deferred(kind='map', advice='list({})')
    """
    if found := _one(value):
        return found
    inner = next(_first_of(value), None)
    if inner is None or (found := _one(inner)) is None:
        return None
    values = "{}.values()" if is_of(value, dict) else "{}"
    each = found.advice.format("each")
    return Deferred(f"{type(value).__name__} of {found.kind}s", f"[{each} for each in {values}]")


def _first_of(value: object) -> Iterator[object]:
    if type(value) is list or type(value) is tuple:
        yield from value[:1]
    elif type(value) is dict:
        yield from list(value.values())[:1]


def _one(value: object) -> Deferred | None:
    # By its type: a stand-in may name another class than its own.
    for kind, found in _KINDS.items():
        if is_of(value, kind):
            return found
    for kind in mro_of(type(value)):
        named = module_of(kind).partition(".")[0], name_of(kind)
        if named in _NAMED:
            return _NAMED[named]
    for methods, found in _ABLE:
        if all(callable(attribute(type(value), name)) for name in methods):
            return found
    return Deferred("Dask collection", "{}.compute()") if ask(_is_dasks, value) else None


def _is_dasks(value: object) -> bool:
    """Whether Dask holds its work back; xarray has such values, too, and others beside them."""
    base: Any = sys.modules.get("dask.base")
    known = attribute(type(value), "__dask_graph__") is not None
    return base is not None and known and bool(base.is_dask_collection(value))


def _is_primary(code: str) -> bool:
    """Whether a method can be called on an expression without brackets around it."""
    try:
        node = ast.parse(code, mode="eval").body
    except SyntaxError:  # statements
        return True
    return isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
