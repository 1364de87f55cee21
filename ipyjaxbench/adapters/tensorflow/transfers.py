"""Copies of TensorFlow's tensors: where they are made of NumPy's, read, and sent to devices."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import constant_op, ops

from ipyjaxbench.adapters.tensorflow.devices import name_of
from ipyjaxbench.device import (
    HOST,
    SHARES,
    CopyWatch,
    TransferWatch,
    defining_package,
    is_of_numpy,
    is_operator,
)
from ipyjaxbench.usercode import is_exactly, is_of, name_of as function_name

_COPIES = {"array", "copy"}
_CONVERTS = {"asarray", "ascontiguousarray", "asanyarray"} | _COPIES


class TensorFlowCopies(CopyWatch):
    """What `.numpy()`, `tf.constant` and copies between devices go through, replaced for a while.

    Data that an operation needs on another device is copied inside of TensorFlow: that is seen at
    the operation's call, by where its inputs and its result are.
    """

    def _listen(self) -> None:
        # All three are private; what is missing is told.
        kind = getattr(ops, "EagerTensor", None)
        replaced = [
            self._replace(kind, "numpy", self._read),
            self._replace(kind, "_numpy_internal", self._read),
            self._replace(kind, "_copy_to_device", self._send),
            self._replace(constant_op, "convert_to_eager_tensor", self._make),
        ]
        if not all(replaced):
            self.gaps += ("some copies (this TensorFlow version does not report all)",)

    def _read(self, old: Callable[..., Any], tensor: Any) -> Any:
        __tracebackhide__ = True
        numbers, waited, spent = self._time_copy(partial(old, tensor))
        is_copy = isinstance(numbers, np.ndarray) and numbers.flags.owndata
        why = SHARES if _is_on_host(tensor) and not is_copy else ""
        self._report(_place(tensor), HOST, tensor, spent, waited, why)
        return numbers

    def _send(self, old: Callable[..., Any], tensor: Any, device: Any) -> Any:
        __tracebackhide__ = True
        made, waited, spent = self._time_copy(partial(old, tensor, device))
        source, target = _place(tensor), _place(made)
        why = SHARES if source == target else ""
        self._report(source, target, tensor, spent, waited, why)
        return made

    def _make(self, old: Callable[..., Any], value: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not is_of(value, np.ndarray) or not value.ndim:
            return old(value, *args, **kwargs)
        made, _, spent = self._time_copy(partial(old, value, *args, **kwargs))
        self._report(HOST, _place(made), made, spent)
        return made

    def call(self, function: Any, arguments: Sequence[Any], make: Callable[[], Any]) -> Any:
        """Report NumPy's functions of tensors, and operations with inputs on another device."""
        __tracebackhide__ = True
        tensors = [value for value in arguments if _is_eager(value)]
        if not tensors:
            return make()
        if is_of_numpy(function):
            return self._to_host(function, tensors, make)
        result = make()
        made = result[0] if is_exactly(result, list, tuple) and result else result
        if _is_eager(made) and (
            defining_package(function) == "tensorflow" or is_operator(function)
        ):
            for tensor in tensors:
                if _place(tensor) != _place(made):
                    self._report(_place(tensor), _place(made), tensor, None)
        return result

    def _to_host(self, function: Any, tensors: Sequence[Any], make: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        result, waited, spent = self._time_copy(make)
        name = function_name(function)
        for tensor in tensors:
            is_copy = name in _COPIES or not _is_on_host(tensor)
            took = spent if name in _CONVERTS else None
            self._report(_place(tensor), HOST, tensor, took, waited, "" if is_copy else SHARES)
        return result

    def _wait(self, values: Sequence[Any]) -> None:  # noqa: ARG002  devices are waited for, not values
        devices = tf.config.list_logical_devices()
        if tf.executing_eagerly() and any(device.device_type != "CPU" for device in devices):
            tf.test.experimental.sync_devices()

    def _dtype(self, array: Any) -> tuple[str, int]:
        return array.dtype.name, array.dtype.size


def _is_eager(value: Any) -> bool:
    return type(value) is ops.EagerTensor


def _place(tensor: Any) -> str:
    return name_of(tensor.backing_device)


def _is_on_host(tensor: Any) -> bool:
    return _place(tensor).startswith("cpu")


class TensorFlowTransfers(TransferWatch):
    """What tensors are read, made and sent by."""

    copies = TensorFlowCopies
