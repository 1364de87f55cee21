"""Keras computes with one of several frameworks: which one is fixed when it is imported."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType, MethodType
from typing import Any

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.reachable_functions import find_reach
from ipyjaxbench.frameworks.registry import loaded
from ipyjaxbench.usercode import (
    Call,
    is_of,
    is_users_function,
    name_of,
    named_below,
    package_of,
    unwrap,
)

_BACKENDS = ("jax", "torch", "tensorflow")
#: Methods of models that are loops over batches.
_BATCH_LOOPS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


def _backend_of(call: Call, frameworks: Sequence[Framework]) -> str | None:
    """Return the module of the framework with which a call computes through Keras; else None."""
    config = getattr(sys.modules.get("keras"), "config", None)
    if config is None:
        return None
    packages = {package_of(each) for each in find_reach([call.function], frameworks, 2).functions}
    is_used = any(_is_of_keras(value) for _, value in _used(call)) or (
        "keras" in packages and not packages.intersection(_BACKENDS)
    )
    return str(config.backend()) if is_used else None


def keras_stateless_scope(framework: str) -> AbstractContextManager[object]:
    """Return Keras's own context in which layers change copies of their variables.

    So none holds a tracer afterwards. It does nothing where Keras computes with another framework.

    Args:
        framework: such as "jax".
    """
    keras: Any = sys.modules.get("keras")
    config = getattr(keras, "config", None)
    if config is None or config.backend() != framework:
        return nullcontext()
    scope: AbstractContextManager[object] = keras.StatelessScope()
    return scope


def is_keras_optimizer(value: object) -> bool:
    """Whether a value is one of Keras's optimizers, whichever framework has its state."""
    optimizers = getattr(sys.modules.get("keras"), "optimizers", None)
    kind = getattr(optimizers, "Optimizer", None)
    return kind is not None and is_of(value, kind)


def _refuse(call: Call) -> None:
    """Raise for a call that is no program, or that would build what is the user's."""
    keras: Any = sys.modules["keras"]
    refuse_keras_loop(call)
    for name, value in _used(call):
        if is_of(value, keras.layers.Layer) and not is_keras_built(value):
            raise SnippetError(
                f"{name or value.name} is not built yet, and looking would build it: call it once"
                " first"
            )


def refuse_keras_loop(call: Call) -> None:
    """Raise for a method of a model that is a loop over batches, naming what to look at."""
    keras: Any = sys.modules["keras"]
    owner = call.function.__self__ if type(call.function) is MethodType else None
    name = name_of(call.function)
    if is_of(owner, keras.Model) and name in _BATCH_LOOPS:
        raise SnippetError(
            f"{name}() is a loop over batches in Python, and no program: look at the model's call,"
            " as in  model(x), or at one step:  model.train_step((x, y))"
        )


def is_keras_built(layer: Any) -> bool:
    """Whether a layer and those in it are; a container may be while its parts are not."""
    flattened = getattr(layer, "_flatten_layers", None)
    return all(each.built for each in (flattened() if flattened is not None else [layer]))


def _used(call: Call) -> Iterator[tuple[str, Any]]:
    """Yield what is called, its arguments, and what the user's functions name, with names."""
    function: Any = call.function
    yield "", function.__self__ if type(function) is MethodType else function
    yield from zip(call.labels, call.args, strict=True)
    yield from call.kwargs.items()
    yield from named_below(function, _plain)


def _plain(value: Any) -> FunctionType | None:
    function = unwrap(value) if type(value) is FunctionType else value
    return function if is_users_function(function) else None


def _is_of_keras(value: Any) -> bool:
    keras: Any = sys.modules["keras"]
    return package_of(value) == "keras" or is_of(value, keras.layers.Layer)


def keras_backend(call: Call) -> str | None:
    """Return the module of the framework with which a call computes through Keras.

    Args:
        call: it is not made.

    Returns:
        Such as "torch"; None where nothing of Keras's is called.

    Raises:
        SnippetError: it is no program, or looking would build what is the user's.
    """
    backend = _backend_of(call, loaded()[0])
    if backend not in (None, "tensorflow"):  # whose adapter looks at copies
        _refuse(call)
    return backend


def keras_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Yield weights of layers and variables of optimisers by their paths; None for other values."""
    keras: Any = sys.modules.get("keras")
    if getattr(keras, "Variable", None) is None:  # it is not imported, or not yet in full
        return None
    if is_of(value, keras.Variable):
        return iter([("value", value.value)])
    if is_of(value, keras.layers.Layer):
        return _arrays_by_path(value, value.weights)
    if is_of(value, keras.optimizers.Optimizer):
        return _arrays_by_path(value, value.variables)
    return None


def _arrays_by_path(owner: Any, variables: Iterable[Any]) -> Iterator[tuple[str, object]]:
    """Yield arrays by paths with dots, from the owner on; it is known by another name here."""
    for variable in variables:
        path = str(getattr(variable, "path", variable.name))
        yield path.removeprefix(f"{owner.name}/").replace("/", "."), variable.value
