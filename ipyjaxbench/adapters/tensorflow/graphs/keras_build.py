"""Keras builds a layer when it is first called: looking is not to build what is the user's."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.errors import CODE_ERRORS, SnippetError
from ipyjaxbench.frameworks import is_keras_built, refuse_keras_loop
from ipyjaxbench.usercode import Call, is_of, label_arguments, name_of


def argument_names(call: Call) -> tuple[str, ...]:
    """Return names of the positional arguments; a layer's are those of its `call`."""
    module = references.keras()
    function: Any = call.function
    if module is None or not is_of(function, module.layers.Layer):
        return call.labels
    return label_arguments(function.call, call.args, call.kwargs)


def prepare(call: Call) -> tuple[Call, bool]:
    """Return a call that builds nothing of the user's, and whether it is of a copy.

    Raises:
        SnippetError: it would build something of the user's that is not copied.
    """
    module = references.keras()
    if module is None:
        return call, False
    owner, name = _owner(call.function)
    refuse_keras_loop(call)
    if is_of(owner, module.layers.Layer) and not is_keras_built(owner):
        return replace(call, function=_copied(owner, name)), True
    if name in ("train_step", "test_step") and is_of(owner, module.Model):
        _refuse(module, [("the model's optimizer", getattr(owner, "optimizer", None))])
    _refuse(
        module,
        [*call.arguments, (f"the object of {name}", owner), *references.used_values(call.function)],
    )
    return call, False


def _owner(function: Any) -> tuple[Any, str]:
    """Return the object that is called, or whose method it is, and the method's name."""
    owner = references.owner_of(function)
    return (function, "__call__") if owner is None else (owner, name_of(function))


def _copied(layer: Any, name: str) -> Any:
    """Return the same method of a copy of a layer that has no variables yet."""
    try:
        copied = copy.deepcopy(layer)
    except CODE_ERRORS as error:
        raise SnippetError(
            f"{layer.name!r} is not built yet, and tracing would build it: call it once first"
        ) from error
    return copied if name == "__call__" else getattr(copied, name)


def _refuse(module: Any, named: Iterable[tuple[str, Any]]) -> None:
    """Raise for a layer or an optimizer that the call would build."""
    for name, value in named:
        if is_of(value, module.layers.Layer) and not is_keras_built(value):
            how = f"call it once first, as in  {name}(x)"
        elif is_of(value, module.optimizers.Optimizer) and not value.built:
            how = "first run  optimizer.build(model.trainable_variables)"
        else:
            continue
        raise SnippetError(f"{name} is not built yet, and tracing would build it: {how}")
