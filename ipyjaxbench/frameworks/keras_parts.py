"""What is inside of Keras's models and optimisers, with whichever framework it computes."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ipyjaxbench.usercode import is_of


def keras_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Weights of layers and variables of optimisers by their paths.

    Args:
        value: anything.

    Returns:
        The arrays of the framework that holds them; None for what is none of Keras's.
    """
    keras: Any = sys.modules.get("keras")
    if getattr(keras, "Variable", None) is None:  # it is not imported, or not yet in full
        return None
    if is_of(value, keras.Variable):
        return iter([("value", value.value)])
    if is_of(value, keras.layers.Layer):
        return _by_path(value, value.weights)
    if is_of(value, keras.optimizers.Optimizer):
        return _by_path(value, value.variables)
    return None


def _by_path(owner: Any, variables: Iterable[Any]) -> Iterator[tuple[str, object]]:
    """Paths with dots, from the owner on; it is known by another name here."""
    for variable in variables:
        path = str(getattr(variable, "path", variable.name))
        yield path.removeprefix(f"{owner.name}/").replace("/", "."), variable.value
