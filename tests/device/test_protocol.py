"""What is answered for a framework that offers nothing of devices."""

from ipyjaxbench.device import (
    ArrayInspector,
    ArrayPlacement,
    Device,
    DeviceInventory,
    FrameworkDevices,
    MemoryRequest,
    Weight,
)
from ipyjaxbench.device.protocol import TransferWatch
from ipyjaxbench.reports import Note
from tests.device.fake import Array, ArrayFramework
from tests.fake_framework import FakeFramework


def test_it_has_no_devices_and_sets_nothing() -> None:
    inventory = DeviceInventory(FakeFramework())
    assert not inventory.has_devices
    assert inventory.devices() == FrameworkDevices("fake", "1.0", started=True)
    assert inventory.start() is True
    assert inventory.set_memory(MemoryRequest(prealloc=False)) == ()
    assert (inventory.threads(), inventory.probe("cpu")) == (None, None)
    with inventory.align_settings(2):
        pass
    assert TransferWatch(FakeFramework()).copies is None
    framework = ArrayFramework()
    framework.has_started = False
    inventory = DeviceInventory(framework)
    assert (inventory.devices().started, inventory.start()) == (False, False)


def test_an_array_is_where_the_framework_places_it() -> None:
    inspector, array = ArrayInspector(ArrayFramework()), Array(8)
    placed = ArrayPlacement("x", "fake", "int8", (8,), 8, ("fake:0",), of=f"fake {id(array)}")
    assert inspector.locate("x", array) == placed
    assert inspector.weight(array) == Weight(("fake:0",), 8)
    assert inspector.base_array(array) is array
    assert (inspector.live_arrays(), inspector.creation_frames(array)) == ((), ())
    assert (inspector.describe(array), inspector.to_numpy(array)) == ("", None)
    assert inspector.conversion(array) is None
    given_away = ArrayFramework().capability(ArrayInspector).weight(Array(8, deleted=True))
    assert given_away == Weight(("fake:0",), 0)


def test_notes_of_each_device_come_before_those_of_all() -> None:
    notes = tuple(Note("no-answer", text) for text in ("one", "two", "all"))
    one, two = Device("fake:0"), Device("fake:1")
    answers = [(one, notes[:1]), (two, notes[1:2])]
    home = DeviceInventory(FakeFramework())._started(answers, ("fake:1", "set"), notes[2:])
    known = FrameworkDevices("fake", "1.0", True, (one, two), "fake:1", "set", notes)
    assert (home, home.texts) == (known, ("one", "two", "all"))
