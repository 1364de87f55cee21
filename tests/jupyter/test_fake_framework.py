"""A framework whose device is simulated is taken for one, in a shell too."""

import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.frameworks import registry
from ipyjaxbench.reports.result import MIME
from ipyjaxbench.testing import FakeClock, FakeDevice
from tests.shell import Shell

KEY = "tests.fake_framework"


@pytest.fixture
def fake(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell in which a simulated device has a name."""
    monkeypatch.setitem(registry._TABLE, KEY, f"{KEY}:FakeFramework")
    adapter = registry._class(KEY)()
    monkeypatch.setitem(registry._made, KEY, adapter)
    shell.names["device"] = adapter.device
    shell.run("def f():\n    return device.start(dispatch=10, work=1000)")
    return shell


def test_each_call_is_waited_for(fake: Shell) -> None:
    fake.run("%fwtime -q -n 1 -r 5 f()")
    device = fake.names["device"]
    assert device.waits >= 5
    assert device.clock.now() >= device.busy_until


def test_a_result_names_the_framework_and_the_device(fake: Shell) -> None:
    fake.run("%fwtime -n 1 -r 5 y = f()")
    (output,) = fake.shown
    assert "y f32[] fake:0" in output.data["text/plain"]
    assert Measurement.from_dict(output.data[MIME]).frameworks["fake"] == "1.0"


def test_places_are_those_of_the_framework(fake: Shell) -> None:
    fake.run("y = f()\n%fwdevices y")
    assert "fake:0" in fake.shown[-1].data["text/plain"]


def test_a_clock_of_its_own_is_no_array(fake: Shell) -> None:
    fake.names["other"] = FakeDevice(FakeClock())
    fake.run("%fwdevices other")
    assert "fake:0" not in fake.shown[-1].data["text/plain"]


def test_what_a_device_did_is_shown(fake: Shell) -> None:
    fake.run("%fwtime --profile -b 0.05 f()")
    assert "busy 1.00 µs on fake:0 per call" in fake.shown[-1].data["text/plain"]


def test_what_is_compiled_is_shown(fake: Shell) -> None:
    fake.run("%fwtime -n 1 -r 5 (device.compile(5_000_000, 'step'), f())[1]")
    assert "█ compile 5.0 ms" in fake.shown[-1].data["text/plain"]
