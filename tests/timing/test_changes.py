"""What code changes in place is found."""

from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import Scope
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.changes import Changes
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework


@pytest.fixture
def fake() -> FakeFramework:
    return FakeFramework(FakeDevice(FakeClock()))


@pytest.mark.parametrize(
    ("code", "value", "change", "told"),
    [
        ("x.append(1)", [], lambda x: x.append(1), ["x"]),
        ("x.update(a=1)", {"a": 1}, lambda x: x.update(a=1), []),
        ("x[0] += 1", [1], lambda x: None, ["x"]),
        ("x.n += 1", SimpleNamespace(n=1), lambda x: None, ["x"]),
        ("x.a.b[0] += 1", SimpleNamespace(), lambda x: None, ["x"]),
        ("next(x)", iter([1]), lambda x: None, ["x"]),
        ("len(x)", [1], lambda x: None, []),
        ("x += 1", 1, lambda x: None, []),
    ],
)
def test_objects_that_change_in_place_are_told(
    code: str, value: Any, change: Any, told: list[str], fake: FakeFramework
) -> None:
    changes = Changes(Scope(Snippet(Source.plain(code), {"x": value}), [fake]), [fake])
    change(value)
    assert list(dict.fromkeys(changes.changed_names())) == told


def test_an_array_that_counts_its_changes_is_asked(fake: FakeFramework) -> None:
    array = fake.device.start(dispatch=0, work=0)
    snippet = Snippet(Source.plain("f(x)"), {"x": [array]})
    changes = Changes(Scope(snippet, [fake]), [fake])
    assert changes.changed_names() == []
    array.version += 1
    assert changes.changed_names() == ["x"]
