"""Waits for GPUs through their driver: one call for all that this process has started on them.

JAX, PyTorch and TensorFlow share the driver's primary context of each GPU, so that one wait is for
all of them, on all streams, with results that were dropped. Measured on an H100 (driver 580): 2 to
3.5 µs where nothing runs, 6 µs right after a small call, 29 µs after one of 3.3 ms; of 500 programs
and 50 side streams none was missed. A copy that a thread of the framework has yet to start, as of
`jax.device_put`, is: arrays that are alive are waited for as such.

Sources: `cuCtxSynchronize` of the CUDA driver API, `hipDeviceSynchronize` of HIP.
"""

import ctypes
import os
from abc import ABC, abstractmethod
from contextlib import suppress
from ctypes import byref, c_char_p, c_int, c_uint, c_void_p
from typing import Any, ClassVar


class Driver(ABC):
    """A driver of GPUs.

    Args:
        library: its functions, as `ctypes` loads them.

    Raises:
        AttributeError: it is too old to have one of them.
        RuntimeError: it was not started.
    """

    libraries: ClassVar[tuple[str, ...]]  # its file's names, the newest first
    _functions: ClassVar[tuple[str, ...]]

    def __init__(self, library: Any) -> None:
        for name in self._functions:
            getattr(library, name)
        self._library = library
        self._devices = [*range(self._count())]

    @abstractmethod
    def _count(self) -> int:
        """Return how many GPUs this process sees."""

    @abstractmethod
    def _is_active(self, device: int) -> bool:
        """Whether this process computes on one; to wait for another one would start it."""

    @abstractmethod
    def _wait_for(self, device: int) -> None:
        """Wait for all that was started on one."""

    @abstractmethod
    def _name(self, status: int) -> str:
        """Return the name of an error."""

    def active(self) -> list[int]:
        """Return the numbers of the GPUs on which this process computes."""
        return [device for device in self._devices if self._is_active(device)]

    def wait(self) -> None:
        """Wait for all that this process has started on GPUs.

        Raises:
            RuntimeError: a GPU failed; it names the driver's error.
        """
        for device in self.active():
            self._wait_for(device)

    def _check(self, status: int) -> None:
        if status:
            raise RuntimeError(f"the GPU's driver says {self._name(status)}")


class CudaDriver(Driver):
    """NVIDIA's."""

    libraries = ("libcuda.so.1",)
    _functions = (
        "cuDeviceGetCount", "cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain",
        "cuDevicePrimaryCtxRelease_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",
        "cuCtxSynchronize", "cuGetErrorName",
    )  # fmt: skip

    def _count(self) -> int:
        count = c_int()
        self._check(self._library.cuDeviceGetCount(byref(count)))
        return count.value

    def _is_active(self, device: int) -> bool:
        flags, active = c_uint(), c_int()
        state = self._library.cuDevicePrimaryCtxGetState
        self._check(state(device, byref(flags), byref(active)))
        return bool(active.value)

    def _wait_for(self, device: int) -> None:
        library, context = self._library, c_void_p()
        # Held no longer than that: the user may end it, and would wait for us.
        self._check(library.cuDevicePrimaryCtxRetain(byref(context), device))
        try:
            self._check(library.cuCtxPushCurrent_v2(context))
            try:
                self._check(library.cuCtxSynchronize())
            finally:
                library.cuCtxPopCurrent_v2(byref(c_void_p()))
        finally:
            library.cuDevicePrimaryCtxRelease_v2(device)

    def _name(self, status: int) -> str:
        name = c_char_p()
        self._library.cuGetErrorName(status, byref(name))
        return name.value.decode() if name.value else f"error {status}"


class HipDriver(Driver):
    """AMD's."""

    libraries = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so")
    _functions = (
        "hipGetDeviceCount", "hipDevicePrimaryCtxGetState", "hipGetDevice", "hipSetDevice",
        "hipDeviceSynchronize", "hipGetErrorName",
    )  # fmt: skip

    def __init__(self, library: Any) -> None:
        super().__init__(library)
        library.hipGetErrorName.restype = c_char_p

    def _count(self) -> int:
        count = c_int()
        self._check(self._library.hipGetDeviceCount(byref(count)))
        return count.value

    def _is_active(self, device: int) -> bool:
        flags, active = c_uint(), c_int()
        state = self._library.hipDevicePrimaryCtxGetState
        self._check(state(device, byref(flags), byref(active)))
        return bool(active.value)

    def _wait_for(self, device: int) -> None:
        library, before = self._library, c_int()
        self._check(library.hipGetDevice(byref(before)))
        try:
            self._check(library.hipSetDevice(device))
            self._check(library.hipDeviceSynchronize())
        finally:
            library.hipSetDevice(before)

    def _name(self, status: int) -> str:
        name: bytes | None = self._library.hipGetErrorName(status)
        return name.decode() if name else f"error {status}"


def find_driver(gpus: int) -> Driver | None:
    """Return a driver that waits for GPUs; None where none is known to wait for all of them.

    What this process has not loaded is not loaded here, and no GPU is started.

    Args:
        gpus: how many the framework that asks computes on.
    """
    only_loaded = getattr(os, "RTLD_NOLOAD", None)  # not on Windows
    if not gpus or only_loaded is None:
        return None
    for kind in (CudaDriver, HipDriver):
        for name in kind.libraries:
            with suppress(OSError, AttributeError, RuntimeError):  # not there, old, not started
                driver = kind(ctypes.CDLL(name, mode=only_loaded | os.RTLD_NOW))
                if len(driver.active()) >= gpus:
                    driver.wait()
                    return driver
    return None
