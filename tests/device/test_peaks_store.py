"""What was measured is kept for the machine, and read again where it makes sense."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench import Peaks
from ipyjaxbench.device import measure_peaks, peaks_store
from ipyjaxbench.reports import Note
from tests.device.peaks import KEY, PEAKS, Machine, look, near
from tests.fake_framework import FakeFramework, FakeProbe


def test_what_was_measured_is_kept(fake: FakeFramework, data_dir: Path) -> None:
    assert measure_peaks.find_peaks(fake, ["cpu"]) is None
    assert not peaks_store.has_peaks("fake")
    assert not data_dir.exists()  # to look makes no folder
    first = look(fake)
    assert peaks_store.has_peaks("fake")
    fake.probes["cpu"] = FakeProbe(fake.device, {"float32": 200e9})
    again = look(fake)
    assert (again.found, first.seconds > 0, again.seconds) == (first.found, True, 0)
    for found in (look(fake, remeasure=True), look(fake)):
        assert found.found[0].products["float32"] == near(200e9)
    (file,) = data_dir.iterdir()
    file.write_text("{")
    assert [getattr(note, "code", "") for note in look(fake).words] == ["peaks-unread"]
    assert look(fake).words == ()  # it was written anew
    file.write_text("{")
    assert look(fake, remeasure=True).words == ()


def test_a_peak_is_never_below_one_that_was_kept(fake: FakeFramework, machine: Machine) -> None:
    machine.others = 0.4
    found = look(fake)
    assert found.found[0].others == pytest.approx(0.4)
    assert "CPU peaks are too low, and were not stored" in " ".join(str(found).split())
    assert peaks_store.read(KEY) == (None, [])
    machine.others = 0.0
    assert look(fake).seconds > 0
    assert peaks_store.read(KEY)[0] is not None
    fake.probes["cpu"] = FakeProbe(fake.device, {"float32": 50e9})
    for machine.others in (0.4, 0.0):
        assert look(fake, remeasure=True).found[0].products == {"float32": near(100e9)}


@pytest.fixture
def file(data_dir: Path) -> Path:
    """The file of peaks that are kept."""
    peaks_store.write(KEY, PEAKS)
    (file,) = data_dir.iterdir()
    return file


@pytest.mark.parametrize(
    ("key", "stored"),
    [({"version": "2"}, {}), ({"threads": 4}, {}), ({"settings": "TF32"}, {}),
     ({}, {"bandwidth": -1.0}), ({}, {"version": "2.0"}), ({}, {"spread": -0.1}),
     ({}, {"others": 0.4})],  # earlier versions kept what others disturbed
)  # fmt: skip
def test_peaks_that_make_no_sense_are_not_read(
    key: dict[str, Any], stored: dict[str, Any], file: Path
) -> None:
    assert peaks_store.read(KEY) == (PEAKS, [])
    peaks_store.write(KEY, dataclasses.replace(PEAKS, **stored))
    assert peaks_store.read(KEY._replace(**key))[0] is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"schema": 1, "kind": "ceilings", "facts": {"found": [], "now": 1}}',
     '{"schema": 9, "kind": "ceilings"}', "[" * 100_000, "x" * 200_000],
)  # fmt: skip
def test_a_broken_file_is_left_out_and_said(text: str, file: Path) -> None:
    file.write_text(text)
    found, (note,) = peaks_store.read(KEY)
    assert (found, note.code) == (None, "peaks-unread")
    assert note.text.startswith(f"ignored {file.name}: ")


def test_peaks_of_earlier_versions_are_read_and_no_file_names_the_machine(file: Path) -> None:
    assert os.uname().nodename not in file.name + file.read_text()
    record = json.loads(file.read_text())
    for name in ("spreads", "missing"):
        del record["facts"]["found"][0][name]
    file.write_text(json.dumps(record))
    assert peaks_store.read(KEY) == (PEAKS, [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="it has no pipes among its files")
def test_what_is_no_file_is_not_read(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)  # nobody writes to it: to read it would take forever
    assert peaks_store.read(KEY) == (None, [])


def test_a_folder_that_cannot_be_made_fails_nothing(fake: FakeFramework, data_dir: Path) -> None:
    data_dir.parents[1].write_text("a file stands where the directory would")
    text = "peaks were not stored for other sessions: Jupyter's data directory is not writable"
    assert look(fake).words == (Note("peaks-not-kept", text),)
    assert look(fake).seconds == 0.0  # this session has them
    assert peaks_store.has_peaks("fake")


def test_a_write_that_fails_leaves_the_old_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        (note,) = peaks_store.write(KEY, dataclasses.replace(PEAKS, bandwidth=1.0))
    assert note.text == "peaks were not stored for other sessions: No space left on device"
    assert peaks_store.read(KEY)[0] == dataclasses.replace(PEAKS, bandwidth=1.0)
    assert [*file.parent.iterdir()] == [file]
    assert Peaks.from_dict(json.loads(file.read_text())).found == (PEAKS,)
