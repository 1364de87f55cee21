"""The traces that TensorFlow keeps of a `tf.function`, whoever had them made."""

from collections.abc import Sequence
from typing import Any

from ipyjaxbench.adapters.tensorflow.retracing import callee
from ipyjaxbench.adapters.tensorflow.retracing.retrace import arguments_of
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Invocation, KeptPrograms


class TensorFlowKeptPrograms(KeptPrograms):
    """Those of its cache, which is private, and does not keep the object of a method."""

    def calls(self, function: Any) -> Sequence[Invocation]:
        """Return those that find its traces; none of a model, which Keras has traced."""
        if callee.model_call(function) is not None:
            return ()
        traced = callee.resolve(function, (), {})[0]
        try:
            kept = [*traced._function_cache.values()]
        except CODE_ERRORS:  # another version, or what is no `tf.function`
            return ()
        given = (arguments_of(each) for each in kept)
        return [(traced, each.args, each.kwargs) for each in given if each is not None]
