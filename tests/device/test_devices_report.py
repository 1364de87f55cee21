"""Devices of each framework, and what their memory is used for, as labelled lines."""

from typing import Any

import pytest

from ipyjaxbench.device import ArrayPlacement, Device, FrameworkDevices, Whereabouts, gpu_kind
from ipyjaxbench.device.devices_report import device_rows
from ipyjaxbench.reports import Note

CPU0, CPU1 = Device("cpu:0"), Device("cpu:1")


def home(*devices: Device, **facts: Any) -> FrameworkDevices:
    return FrameworkDevices("jax", "0.10.2", **{"started": True, "devices": devices} | facts)


def rows(*homes: FrameworkDevices, **facts: Any) -> list[tuple[str, str]]:
    found = Whereabouts(**{"asked": (), "arrays": (), "unnamed": {}, "homes": homes} | facts)
    return list(device_rows(found))


def array(nbytes: int, device: str = "cpu:0", **facts: Any) -> ArrayPlacement:
    known = {"name": "x", "framework": "jax", "dtype": "int8", "shape": (nbytes,)} | facts
    return ArrayPlacement(**known, nbytes=nbytes, devices=(device,))


@pytest.mark.parametrize(
    ("devices", "facts", "text"),
    [
        ((CPU0,), {}, "cpu:0"),
        ((CPU0,), {"default": "cpu:0", "why": "there is no GPU"}, "cpu:0"),
        ((CPU0,), {"default": "cpu", "why": "it is set"}, "cpu:0, default cpu (it is set)"),
        ((CPU0, CPU1), {"default": "cpu:0"}, "cpu:0,1 (2 devices), default cpu:0"),
        ((CPU0, CPU1), {"default": "cpu:1", "why": "it is set"},
         "cpu:0,1 (2 devices), default cpu:1 (it is set)"),
        ((), {"started": False},
         "imported but not initialized; `devices(start=True)` lists its devices"),
    ],
)  # fmt: skip
def test_devices_are_one_line(
    devices: tuple[Device, ...], facts: dict[str, Any], text: str
) -> None:
    assert rows(home(*devices, **facts)) == [("jax", text)]
    assert rows() == [("devices", "none: no framework with devices of its own is imported")]
    assert rows(asked=("x",)) == []
    # Bytes of arrays are those of the framework.
    arrays = (array(1024), array(512, "cpu:1"), array(99, "cpu:2"), array(7, framework="torch"))
    both = "cpu:0,1 (2 devices), 1.50 KiB in arrays"
    assert rows(home(CPU0, CPU1), arrays=arrays) == [("jax", both)]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"kind": "A GPU"}, "A GPU"),
        ({"used": 1024}, "1.00 KiB in use"),
        ({"used": 0, "limit": 2048}, "0 B of 2.00 KiB in use"),
        ({"limit": 2048}, ""),
        ({"peak": 0}, "peak use 0 B"),
        ({"process": 1, "coordinates": (0, 2)}, "coordinates (0, 2)"),
        ({"users": 1}, "1 other process uses it"),
        ({"users": 2}, "2 other processes use it"),
        ({"users": 0}, ""),
        ({"kind": "A GPU", "used": 1, "peak": 2, "users": 3},
         "A GPU, 1 B in use, peak use 2 B, 3 other processes use it"),
    ],
)  # fmt: skip
def test_what_is_known_of_a_device_is_one_line(facts: dict[str, Any], text: str) -> None:
    expected = [("jax", "gpu:0")] + ([("gpu:0", text)] if text else [])
    assert rows(home(Device("gpu:0", **facts))) == expected


def test_notes_stand_below_their_framework() -> None:
    words = (Note("memory-grows", "it grows"), "as an old record says it")
    assert rows(home(CPU0, words=words))[1:] == [("", "it grows"), ("", "as an old record says it")]
    failure = Device("gpu:0").failure(ValueError("lost\nmore"))
    assert failure == Note("no-answer", "gpu:0 does not respond: ValueError: lost")


def test_arrays_without_a_name_are_counted_with_the_largest_of_them() -> None:
    largest = (array(9, framework="torch"), array(1024, layout="created in line 3"))
    found = rows(home(CPU0), unnamed={"jax": (3, 2048), "torch": (1, 9)}, largest=largest)
    assert found[1:] == [
        ("", "3 unnamed arrays, 2.00 KiB; largest: i8[1024], 1.00 KiB, created in line 3"),
    ]
    found = rows(home(CPU0), unnamed={"jax": (1, 8)}, largest=(array(8),))
    assert found[1:] == [("", "1 unnamed array, 8 B; largest: i8[8], 8 B")]
    assert rows(home(CPU0), unnamed={"jax": (1, 8)})[1:] == [("", "1 unnamed array, 8 B")]


def test_a_gpu_is_named_with_its_compute_capability_where_it_has_one() -> None:
    assert gpu_kind("H100", "9.0") == "H100, compute capability 9.0"
    assert gpu_kind("MI300", "") == "MI300"
