"""What a `tf.function` that has an `input_signature` is traced with: its types, not a call's."""

import inspect
from dataclasses import replace
from typing import Any

import tensorflow as tf
from tensorflow.python.util import nest

from ipyjaxbench.adapters.tensorflow.graphs import program
from ipyjaxbench.errors import CODE_ERRORS, SnippetError
from ipyjaxbench.usercode import Call, is_of


def with_signature(call: Call) -> Call:
    """Return a call with the types of the signature where its arguments have other ones.

    Raises:
        SnippetError: the signature does not take an argument, so that the call would raise.
    """
    function: Any = call.function
    if not is_of(function, tf.types.experimental.PolymorphicFunction):
        return call
    signature = getattr(function, "input_signature", None)
    if signature is None:
        return call
    names = [*inspect.signature(function.python_function).parameters]
    specs = dict(zip(names, signature, strict=False))
    try:
        args = tuple(_typed(specs, *each) for each in zip(call.labels, call.args, strict=True))
        kwargs = {name: _typed(specs, name, value) for name, value in call.kwargs.items()}
    except SnippetError:
        raise
    except CODE_ERRORS:  # arguments of another structure, which TensorFlow refuses
        return call
    return replace(call, args=args, kwargs=kwargs)


def _typed(specs: dict[str, Any], name: str, value: Any) -> Any:
    """Return what stands for an argument."""
    spec = specs.get(name)
    if spec is None:
        return value
    return nest.map_structure_up_to(spec, lambda *pair: _leaf(name, *pair), spec, value)


def _leaf(name: str, spec: Any, value: Any) -> Any:
    if not isinstance(spec, tf.TensorSpec):
        return spec
    is_tensor = is_of(value, tf.Tensor, tf.TensorSpec)
    tensor = value if is_tensor else tf.convert_to_tensor(value, spec.dtype)
    if not spec.is_compatible_with(tensor):
        takes, given = program.kind(spec), program.kind(tensor)
        raise SnippetError(f"the input_signature takes {takes} for {name}, and this is {given}")
    return value if is_tensor and spec.shape == tensor.shape else spec
