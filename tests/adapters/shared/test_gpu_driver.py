"""The driver of GPUs: which are waited for, and what stays as it was, on a library that counts."""

import subprocess
import sys
from ctypes import c_char_p
from typing import Any

import pytest

from ipyjaxbench.adapters.shared import gpu_driver
from ipyjaxbench.adapters.shared.gpu_driver import CudaDriver, Driver, HipDriver, find_driver

_ILLEGAL_ADDRESS = 700


def give(place: Any, value: object) -> int:
    """Write an answer where the driver is told to, and say that all is well."""
    place._obj.value = value
    return 0


class Cuda:
    """The driver's functions for some GPUs of which this process uses some."""

    def __init__(self, gpus: int = 2, active: tuple[int, ...] = (1,), status: int = 0) -> None:
        self.gpus, self.is_active, self.status = gpus, active, status
        self.retained = 0
        self.current: list[int] = []  # the contexts of this thread
        self.waited: list[int] = []

    def cuDeviceGetCount(self, count: Any) -> int:
        return give(count, self.gpus)

    def cuDevicePrimaryCtxGetState(self, device: int, flags: Any, active: Any) -> int:
        return give(active, int(device in self.is_active))

    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> int:
        self.retained += 1
        return give(context, 100 + device)

    def cuDevicePrimaryCtxRelease_v2(self, device: int) -> int:
        self.retained -= 1
        return 0

    def cuCtxPushCurrent_v2(self, context: Any) -> int:
        self.current.append(context.value)
        return 0

    def cuCtxPopCurrent_v2(self, context: Any) -> int:
        return give(context, self.current.pop())

    def cuCtxSynchronize(self) -> int:
        self.waited.append(self.current[-1])
        return self.status

    def cuGetErrorName(self, status: int, name: Any) -> int:
        known = status == _ILLEGAL_ADDRESS
        return give(name, b"CUDA_ERROR_ILLEGAL_ADDRESS") if known else 1


class Hip:
    """The same of AMD's."""

    gpus, is_active, current = 3, (0, 2), 1

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.waited: list[int] = []

    def hipGetDeviceCount(self, count: Any) -> int:
        return give(count, self.gpus)

    def hipDevicePrimaryCtxGetState(self, device: int, flags: Any, active: Any) -> int:
        return give(active, int(device in self.is_active))

    def hipGetDevice(self, device: Any) -> int:
        return give(device, self.current)

    def hipSetDevice(self, device: Any) -> int:
        self.current = getattr(device, "value", device)
        return 0

    def hipDeviceSynchronize(self) -> int:
        self.waited.append(self.current)
        return self.status

    class hipGetErrorName:
        """A function whose type can be set."""

        restype: Any = None

        def __new__(cls, status: int) -> bytes:
            assert cls.restype is c_char_p
            return b"hipErrorLaunchFailure"


def test_each_gpu_that_is_in_use_is_waited_for_and_all_is_left_as_it_was() -> None:
    cuda, hip = Cuda(gpus=4, active=(0, 3)), Hip()
    driver = CudaDriver(cuda)
    assert driver.active() == [0, 3]
    driver.wait()
    assert cuda.waited == [100, 103]
    assert (cuda.retained, cuda.current) == (0, [])
    HipDriver(hip).wait()
    assert (hip.waited, hip.current) == ([0, 2], 1)


@pytest.mark.parametrize(
    ("driver", "error"),
    [
        (CudaDriver(Cuda(status=_ILLEGAL_ADDRESS)), "CUDA_ERROR_ILLEGAL_ADDRESS"),
        (CudaDriver(Cuda(status=12345)), "error 12345"),
        (HipDriver(Hip(status=1)), "hipErrorLaunchFailure"),
    ],
)
def test_a_gpu_that_fails_is_named_and_nothing_stays_held(driver: Driver, error: str) -> None:
    with pytest.raises(RuntimeError, match=f"^the GPU's driver says {error}$"):
        driver.wait()
    library: Any = driver._library
    assert getattr(library, "retained", 0) == 0
    assert library.current in ([], 1)


def libraries(**found: Any) -> Any:
    """Loads the libraries that a test names, as `ctypes.CDLL` does."""

    def load(name: str, mode: int) -> Any:
        library = found.get(name.split(".")[0])
        if library is None:
            raise OSError(f"{name}: cannot open shared object file")
        return library

    return load


class Old(Cuda):
    """A driver from before contexts could be released."""

    cuDevicePrimaryCtxRelease_v2 = property()  # type: ignore[assignment]


class NotStarted(Cuda):
    """A driver that no one has started in this process."""

    def cuDeviceGetCount(self, count: Any) -> int:
        return 3


@pytest.mark.parametrize(
    ("there", "gpus", "kind"),
    [
        ({"libcuda": Cuda()}, 1, CudaDriver),
        ({"libamdhip64": Hip()}, 2, HipDriver),
        ({"libcuda": Cuda(active=()), "libamdhip64": Hip()}, 2, HipDriver),
        ({"libcuda": Cuda()}, 0, None),
        ({"libcuda": Cuda()}, 2, None),  # it would not wait for all of them
        ({"libcuda": Cuda(active=())}, 1, None),  # of another process
        ({"libcuda": Old()}, 1, None),
        ({"libcuda": NotStarted()}, 1, None),
        ({"libcuda": Cuda(status=_ILLEGAL_ADDRESS)}, 1, None),
        ({}, 1, None),
    ],
)
def test_a_driver_is_used_that_waits_for_all_gpus_of_a_framework(
    there: dict[str, Any], gpus: int, kind: type[Driver] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_driver.ctypes, "CDLL", libraries(**there))
    found = find_driver(gpus)
    assert (None if found is None else type(found)) is kind
    monkeypatch.delattr(gpu_driver.os, "RTLD_NOLOAD", raising=False)
    assert find_driver(gpus) is None  # libraries cannot be looked for without loading them


def test_a_library_that_is_not_loaded_stays_so() -> None:
    """In a new process, with a library that is surely there."""
    program = (
        "import ctypes.util, pathlib\n"
        "from ipyjaxbench.adapters.shared import gpu_driver\n"
        "maps = pathlib.Path('/proc/self/maps')\n"
        "found = map(ctypes.util.find_library, ('ncursesw', 'sqlite3', 'gomp', 'bz2', 'expat'))\n"
        "name = next(each for each in found if each and each not in maps.read_text())\n"
        "gpu_driver.CudaDriver.libraries = (name,)\n"
        "assert gpu_driver.find_driver(1) is None\n"
        "print(name in maps.read_text())\n"
        "ctypes.CDLL(name)\n"
        "print(name in maps.read_text())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False", "True"], done.stderr
