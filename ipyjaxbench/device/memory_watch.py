"""How much memory a cell needs: counters of devices before and after it, the process meanwhile."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ipyjaxbench import units
from ipyjaxbench.device.memory_peak import MemoryPeak
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.device.resident_curve import ResidentCurve
from ipyjaxbench.frameworks import ArrayInfo, Framework

#: Of the process: a rise that Python's and the libraries' own work makes.
_MIN_RISE = 2**20


class _Counter(NamedTuple):
    """What a device counts, in bytes."""

    used: int
    highest: int | None


class MemoryWatch:
    """Reads the counters of devices when it opens and when it closes; none of them is reset.

    Args:
        frameworks: those whose devices are asked, if they have started.
    """

    def __init__(self, frameworks: Sequence[Framework]) -> None:
        self._frameworks = frameworks
        self._curve = ResidentCurve()

    def __enter__(self) -> "MemoryWatch":
        self._before = dict(_counters(self._frameworks))
        self._curve.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._curve.__exit__()
        after = dict(_counters(self._frameworks))
        self._after = {key: counter for key, counter in after.items() if key in self._before}

    def in_use(self) -> dict[str, tuple[int, int]]:
        """Return the bytes in use on each device before and after."""
        return {
            f"{framework} {device}": (self._before[framework, device].used, after.used)
            for (framework, device), after in self._after.items()
        }

    def peaks(self, arrays: Iterable[ArrayInfo]) -> tuple[MemoryPeak, ...]:
        """Return the peak of each device that counts, and of the process if that has grown.

        Args:
            arrays: that were made or freed: on other devices a counter that has not moved is
                taken to say that nothing was needed.
        """
        found = [*self._on_devices({(a.framework, d) for a in arrays for d in a.devices})]
        process = self._curve.peak()
        if process is not None and process.peak is not None and process.peak >= _MIN_RISE:
            found.append(process)
        return tuple(found)

    def _on_devices(self, used: Collection[tuple[str, str]]) -> Iterator[MemoryPeak]:
        for (framework, device), after in self._after.items():
            before = self._before[framework, device]
            if before.highest is None or after.highest is None:
                continue
            if after.highest > before.highest:
                peak = after.highest - before.used
                left = min(max(after.used - before.used, 0), peak)
                yield MemoryPeak(framework, device, "counter", peak, left, before.used)
            elif (framework, device) in used and after.highest > before.used:
                yield MemoryPeak(framework, device, "counter", reason=_at_most(before))


def _at_most(before: _Counter) -> str:
    """Return what is known where the counter stands at an earlier peak: it cannot be put back."""
    most = (before.highest or 0) - before.used
    return f"at most {units.size(most)}, since an earlier peak of the session was as high"


def _counters(frameworks: Sequence[Framework]) -> Iterator[tuple[tuple[str, str], _Counter]]:
    for framework in frameworks:
        if framework.capability(DeviceInventory).has_devices and framework.started():
            for device in framework.capability(DeviceInventory).devices().devices:
                if device.used is not None:
                    yield (framework.name, device.name), _Counter(device.used, device.peak)
