"""Copies of TensorFlow's tensors: where they are made of NumPy's, read, and sent to devices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import constant_op, ops

from ipyjaxbench.device import (
    HOST,
    SHARES,
    Crossing,
    CrossingWatch,
    Tell,
    TransferWatch,
    is_of_numpy,
    is_operator,
    module_of,
    name_of,
)
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import is_exactly, is_of

_now = Clock.elapsed().now
_COPIES = {"array", "copy"}
_CONVERTS = {"asarray", "ascontiguousarray", "asanyarray"} | _COPIES


class TensorFlowCrossings(CrossingWatch):
    """What `.numpy()`, `tf.constant` and copies between devices go through, replaced for a while.

    Data that an operation needs on another device is copied inside of TensorFlow: that is seen at
    the operation's call, by where its inputs and its result are.
    """

    _inside = False

    def _listen(self) -> None:
        # All three are private; what is missing is told.
        kind = getattr(ops, "EagerTensor", None)
        found = [
            self._replace(kind, "numpy", self._reading),
            self._replace(kind, "_numpy_internal", self._reading),
            self._replace(kind, "_copy_to_device", self._sending),
            self._replace(constant_op, "convert_to_eager_tensor", self._making),
        ]
        if not all(found):
            self.gaps += ("this TensorFlow does not tell all of its copies",)

    def _reading(self, old: Callable[..., Any]) -> Callable[..., Any]:
        def read(tensor: Any) -> Any:
            __tracebackhide__ = True
            if self._inside:
                return old(tensor)
            numbers, waited, spent = self._timed(lambda: old(tensor))
            is_copy = isinstance(numbers, np.ndarray) and numbers.flags.owndata
            why = SHARES if _on_host(tensor) and not is_copy else ""
            self._told(_place(tensor), HOST, tensor, spent, waited, why)
            return numbers

        return read

    def _sending(self, old: Callable[..., Any]) -> Callable[..., Any]:
        def send(tensor: Any, device: Any) -> Any:
            __tracebackhide__ = True
            if self._inside:
                return old(tensor, device)
            made, waited, spent = self._timed(lambda: old(tensor, device))
            source, target = _place(tensor), _place(made)
            why = SHARES if source == target else ""
            self._told(source, target, tensor, spent, waited, why)
            return made

        return send

    def _making(self, old: Callable[..., Any]) -> Callable[..., Any]:
        def make(value: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if self._inside or not is_of(value, np.ndarray) or not value.ndim:
                return old(value, *args, **kwargs)
            made, _, spent = self._timed(lambda: old(value, *args, **kwargs))
            self._told(HOST, _place(made), made, spent, 0)
            return made

        return make

    def call(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """NumPy's functions of tensors, and operations on another device than their inputs'."""
        __tracebackhide__ = True
        given = [each for each in [*args, *kwargs.values()] if _is_eager(each)]
        if not given:
            return make()
        if is_of_numpy(function):
            return self._to_host(function, given, make)
        result = make()
        made = result[0] if is_exactly(result, list, tuple) and result else result
        if _is_eager(made) and (module_of(function) == "tensorflow" or is_operator(function)):
            for each in given:
                if _place(each) != _place(made):
                    self._told(_place(each), _place(made), each, None, 0)
        return result

    def _to_host(self, function: Any, given: Sequence[Any], make: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        result, waited, spent = self._timed(make)
        for each in given:
            is_copy = name_of(function) in _COPIES or not _on_host(each)
            took = spent if name_of(function) in _CONVERTS else None
            self._told(_place(each), HOST, each, took, waited, "" if is_copy else SHARES)
        return result

    def _timed(self, make: Callable[[], Any]) -> tuple[Any, int, int]:
        __tracebackhide__ = True
        start = _now()
        _wait()
        middle = _now()
        self._inside = True
        try:
            made = make()
        finally:
            self._inside = False
        _wait()
        return made, middle - start, _now() - middle

    def _told(
        self, source: str, target: str, tensor: Any, spent: int | None, waited: int, why: str = ""
    ) -> None:
        shape = tuple(int(n) for n in tensor.shape)
        nbytes = int(np.prod(shape, dtype=np.int64)) * tensor.dtype.size
        seconds = None if spent is None else spent * 1e-9
        self._tell(
            Crossing(source, target, tensor.dtype.name, shape, nbytes, seconds, waited * 1e-9, why)
        )


def _wait() -> None:
    devices = tf.config.list_logical_devices()
    if tf.executing_eagerly() and any(device.device_type != "CPU" for device in devices):
        tf.test.experimental.sync_devices()


def _is_eager(value: Any) -> bool:
    return type(value) is ops.EagerTensor


def _place(tensor: Any) -> str:
    kind, _, index = tensor.backing_device.rpartition("device:")[2].lower().partition(":")
    return f"{kind or 'cpu'}:{index or 0}"


def _on_host(tensor: Any) -> bool:
    return _place(tensor).startswith("cpu")


class TensorFlowTransfers(TransferWatch):
    """What tensors are read, made and sent by."""

    def watch(self, on_copy: Tell) -> TensorFlowCrossings:
        """Reads, makes, sends, and calls seen from outside."""
        return TensorFlowCrossings(on_copy)
