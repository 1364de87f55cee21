"""Two frameworks of our own, of which one has devices."""

import sys
from typing import NamedTuple

import pytest

import ipyjaxbench.device  # noqa: F401  its modules are changed
from tests.device.fake import ArrayFramework, Library, OtherFramework


class Frameworks(NamedTuple):
    """What is loaded."""

    fake: ArrayFramework
    other: OtherFramework


@pytest.fixture
def frameworks(monkeypatch: pytest.MonkeyPatch) -> Frameworks:
    """Nothing else is loaded."""
    found = Frameworks(ArrayFramework(), OtherFramework())
    for name in ("locate", "watch_transfers", "set_memory"):  # functions have the same names
        module = sys.modules[f"ipyjaxbench.device.{name}"]
        monkeypatch.setattr(module, "loaded", lambda: ([*found], {}))
    Library.clock = found.fake.device.clock
    Library.calls.clear()
    return found
