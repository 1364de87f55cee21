"""Where TensorFlow's tensors and variables live, and what is inside of its containers."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from ipyjaxbench.usercode import is_of

#: Tensors that are made of several, with what they call them.
_PARTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (tf.RaggedTensor, ("flat_values", "nested_row_splits")),
    (tf.SparseTensor, ("indices", "values", "dense_shape")),
    (tf.IndexedSlices, ("values", "indices", "dense_shape")),
)


def named_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Return variables of modules by attributes, parts of tensors that are made of several."""
    if is_of(value, tf.Module):
        return _module_values(value)
    if is_of(value, tf.types.experimental.PolymorphicFunction):
        return iter(())  # it keeps handles of variables, which are no arrays
    for kind, names in _PARTS:
        if is_of(value, kind):
            return ((name, getattr(value, name)) for name in names)
    distributed = is_of(value, tf.distribute.DistributedValues)
    if distributed and not is_of(value, tf.Variable):
        return ((f"values[{i}]", each) for i, each in enumerate(getattr(value, "values", ())))
    return None


def _module_values(module: tf.Module) -> Iterator[tuple[str, object]]:
    flatten: Any = getattr(module, "_flatten", None)
    if flatten is None:
        yield from ((each.name, each) for each in module.variables)
        return
    variables = flatten(predicate=lambda each: isinstance(each, tf.Variable), with_path=True)
    for (first, *rest), variable in variables:
        yield str(first) + "".join(_step(each) for each in rest), variable


def _step(key: object) -> str:
    """Return it as a person would type it; an attribute and a key that is a name look the same."""
    is_name = isinstance(key, str) and key.isidentifier()
    return f".{key}" if is_name else f"[{key!r}]"
