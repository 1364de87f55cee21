"""Keras computes with one of several frameworks: which one is fixed when it is imported."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType, MethodType
from typing import Any

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.registry import loaded
from ipyjaxbench.frameworks.traversal import find_reach
from ipyjaxbench.usercode import (
    Call,
    is_of,
    is_users_function,
    name_of,
    named_values,
    package_of,
    unwrap,
)

_DEPTH = 4  # functions that call functions
_ARRAYS = ("jax", "torch", "tensorflow")
#: Methods of models that are loops over batches.
LOOPS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


def backend_of(call: Call, frameworks: Sequence[Framework]) -> str | None:
    """The module of the framework with which a call computes through Keras.

    Args:
        call: it is not made.
        frameworks: the adapters.

    Returns:
        Such as "torch"; None where nothing of Keras's is called.
    """
    config = getattr(sys.modules.get("keras"), "config", None)
    if config is None:
        return None
    packages = {package_of(each) for each in find_reach([call.function], frameworks, 2).functions}
    is_used = any(_is_of_keras(value) for _, value in _used(call)) or (
        "keras" in packages and not packages.intersection(_ARRAYS)
    )
    return str(config.backend()) if is_used else None


def keras_stateless_scope(framework: str) -> AbstractContextManager[object]:
    """Where Keras computes with a framework, what layers change of themselves is changed aside.

    Its own context for that; the variables of a layer hold no tracers afterwards.

    Args:
        framework: such as "jax".
    """
    keras: Any = sys.modules.get("keras")
    config = getattr(keras, "config", None)
    if config is None or config.backend() != framework:
        return nullcontext()
    scope: AbstractContextManager[object] = keras.StatelessScope()
    return scope


def refuse(call: Call) -> None:
    """Raise for a call that is no program, or that would build what is the user's.

    Raises:
        SnippetError: it names what is to be typed first.
    """
    keras: Any = sys.modules["keras"]
    refuse_keras_loop(call)
    for name, value in _used(call):
        if is_of(value, keras.layers.Layer) and not is_keras_built(value):
            raise SnippetError(
                f"{name or value.name} is not built yet, and looking would build it: call it once"
                " first"
            )


def refuse_keras_loop(call: Call) -> None:
    """Raise for a method of a model that is a loop over batches.

    Raises:
        SnippetError: it names what to look at instead.
    """
    keras: Any = sys.modules["keras"]
    owner = call.function.__self__ if type(call.function) is MethodType else None
    name = name_of(call.function)
    if is_of(owner, keras.Model) and name in LOOPS:
        raise SnippetError(
            f"{name}() is a loop over batches in Python, and no program: look at the model's call,"
            " as in  model(x), or at one step:  model.train_step((x, y))"
        )


def is_keras_built(layer: Any) -> bool:
    """Whether a layer and those in it are; a container may be while its parts are not."""
    flattened = getattr(layer, "_flatten_layers", None)
    return all(each.built for each in (flattened() if flattened is not None else [layer]))


def _used(call: Call) -> Iterator[tuple[str, Any]]:
    """What is called, what it is given, and what the user's functions name, with their names."""
    function: Any = call.function
    yield "", function.__self__ if type(function) is MethodType else function
    yield from zip(call.labels, call.args, strict=True)
    yield from call.kwargs.items()
    yield from _named_by([function], _DEPTH)


def _named_by(values: Iterable[Any], depth: int) -> Iterator[tuple[str, Any]]:
    for value in values if depth else ():
        function = unwrap(value) if type(value) is FunctionType else value
        if is_users_function(function):
            found = [*named_values(function)]
            yield from found
            yield from _named_by([each for _, each in found], depth - 1)


def _is_of_keras(value: Any) -> bool:
    keras: Any = sys.modules["keras"]
    return package_of(value) == "keras" or is_of(value, keras.layers.Layer)


def keras_backend(call: Call) -> str | None:
    """The module of the framework with which a call computes through Keras.

    Args:
        call: it is not made.

    Returns:
        Such as "torch"; None where nothing of Keras's is called.

    Raises:
        SnippetError: it is no program, or looking would build what is the user's.
    """
    frameworks, _ = loaded()
    found = backend_of(call, frameworks)
    if found not in (None, "tensorflow"):  # whose adapter looks at copies
        refuse(call)
    return found
