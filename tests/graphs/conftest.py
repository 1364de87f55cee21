"""Two frameworks that make programs, and one that makes none."""

import sys
from typing import NamedTuple

import pytest

import ipyjaxbench.graphs  # noqa: F401  its modules are changed
from tests.graphs.fake import One, Plain, Two


class Frameworks(NamedTuple):
    """Those that are loaded, and the names of those that were asked, in turn."""

    one: One
    two: Two
    asked: list[str]


@pytest.fixture
def frameworks(monkeypatch: pytest.MonkeyPatch) -> Frameworks:
    """Nothing else is loaded."""
    asked: list[str] = []
    one, two = One(asked), Two(asked)
    for name in ("explain", "rollback", "trace_program"):  # functions have the same names
        module = sys.modules[f"ipyjaxbench.graphs.{name}"]
        monkeypatch.setattr(module, "loaded", lambda: ([Plain(asked), one, two], {}))
    return Frameworks(one, two, asked)
