"""What one framework's preallocation leaves of a GPU to the others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ipyjaxbench import units
from ipyjaxbench.device.devices import Device, FrameworkDevices
from ipyjaxbench.reports import Note

_PREALLOCATES = "memory-preallocated"  # the code of the note that a framework did so


def add_preallocation(homes: Sequence[FrameworkDevices]) -> tuple[FrameworkDevices, ...]:
    """Return the same with notes on what frameworks that preallocate leave to each other one."""
    greedy = [home for home in homes if _PREALLOCATES in _codes(home)]
    return tuple(
        replace(home, words=(*home.words, *_left(home, [g for g in greedy if g is not home])))
        for home in homes
    )


def _codes(home: FrameworkDevices) -> set[str]:
    return {word.code for word in home.words if isinstance(word, Note)}


def _left(home: FrameworkDevices, greedy: Sequence[FrameworkDevices]) -> Iterator[Note]:
    """Yield a note on the first GPU that another framework preallocates memory of."""
    for device in home.devices:
        for other in greedy:
            taken = [each for each in other.devices if _number(each) == _number(device)]
            if _number(device) and taken:
                yield Note("memory-taken", _words(home, device, other, taken[0]))
                return


def _number(device: Device) -> str:
    """Return which GPU it is, in any framework's words; "" where it is none."""
    kind, _, number = device.name.lower().rpartition(":")
    return number if kind in ("cuda", "gpu", "rocm") else ""


def _words(home: FrameworkDevices, device: Device, other: FrameworkDevices, taken: Device) -> str:
    share = units.size(taken.limit) if taken.limit else "most"
    left = "little"
    if device.limit and taken.limit and device.limit > taken.limit:
        left = f"at most {units.size(device.limit - taken.limit)}"
    return (
        f"{device.name}: {other.framework} preallocated {share} of it, which leaves {left} to"
        f" {home.framework}"
    )
