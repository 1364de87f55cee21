"""What a function returns and JAX cannot take: a generator, a coroutine, a string, an object."""

import ast
import inspect
from collections.abc import Callable
from types import CoroutineType, FunctionType, MethodType
from typing import Any

import jax

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.graphs.arguments import is_leaf
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Sources
from ipyjaxbench.usercode import (
    explain_uncalled,
    is_a,
    is_of,
    is_users_file,
    module_of,
    name_of,
    unwrap,
)


class NoDataError(TypeError):
    """A result holds something that is no data.

    Attributes:
        place: file and line of the ``return``, or of the function where there are several.
        package: that made what is no data.
        whole: all of the result.
    """

    def __init__(
        self, what: str, function: Callable[..., Any], package: str = "", whole: object = None
    ) -> None:
        super().__init__(what)
        self.whole = whole
        self.place = _returned_at(function)
        self.package = package


def refuse_generator(function: Callable[..., Any]) -> None:
    """Raise a `NoDataError` for a generator function, or ``async``: a call computes nothing."""
    plain = unwrap(function)
    if inspect.isgeneratorfunction(plain):
        raise NoDataError("the result is a generator", plain)
    if inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain):
        raise NoDataError("the result is a coroutine: the function is async", plain)


def refuse_other_than_data(function: Callable[..., Any], returned: list[Any]) -> None:
    """Raise a `NoDataError` of what a function returned, if it did, and JAX refused."""
    for result in returned:
        for path, leaf in trees.leaves_with_paths(result):
            if _is_traced(leaf):
                continue
            if is_of(leaf, CoroutineType):
                leaf.close()  # it would warn that it was never awaited
            where = f"result{jax.tree_util.keystr(path)}" if path else "the result"
            kind = name_of(type(leaf))
            article = "an" if kind[0] in "aeiouAEIOU" else "a"
            # What wraps the user's function may give something else than that does.
            returns = unwrap(function) if is_jitted(function) else function
            package = module_of(type(leaf)).partition(".")[0]
            raise NoDataError(f"{where} is {article} {kind}", returns, package, result)


def refuse_shapes(function: Callable[..., Any], returned: list[Any]) -> None:
    """Raise a `NoDataError` where a function returned shapes of arrays, as `jax.eval_shape`."""
    for result in returned:
        if any(is_a(leaf, jax.ShapeDtypeStruct) for leaf in trees.leaves(result)):
            raise NoDataError("the result is a shape without an array", function, "jax", result)


def explain_result(text: str, error: BaseException) -> str:
    """Return what to say of a result that is no failure of tracing; empty where it is one."""
    whole = error.whole if isinstance(error, NoDataError) else None
    leaves = trees.leaves(whole)
    if callable(whole) and not any(is_a(leaf, jax.core.Tracer) for leaf in leaves):
        return explain_uncalled(text)
    if leaves and all(is_a(leaf, jax.ShapeDtypeStruct) for leaf in leaves):
        return f"{text!r} is only the shape of an array and computes nothing: pass it to a function"
    return ""


def keep_data(result: Any) -> Any:
    """Return a result without what is no data, which ways to jit that filter hand through."""
    return trees.map_leaves(lambda leaf: leaf if _is_traced(leaf) else None, result)


def _is_traced(leaf: object) -> bool:
    return is_a(leaf, jax.core.Tracer) or is_leaf(leaf)


def is_of_another_framework(error: BaseException) -> bool:
    """Whether tracing failed since the result is another framework's: so is the program."""
    return isinstance(error, NoDataError) and error.package in ("torch", "tensorflow")


def _returned_at(function: Any) -> tuple[str, int]:
    function = function.__func__ if is_of(function, MethodType) else function
    code = getattr(function, "__code__", None)
    if code is None or not is_users_file(code.co_filename):
        return "", 0
    definition = Sources().definition(function) if type(function) is FunctionType else None
    if definition is None:
        return code.co_filename, code.co_firstlineno
    returns = [node.lineno for node in ast.walk(definition) if isinstance(node, ast.Return)]
    return code.co_filename, returns[0] if len(returns) == 1 else definition.lineno
