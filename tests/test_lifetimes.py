"""What was measured is freed as soon as the user lets go of it: it may fill a device's memory."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.shell import Shell


class Large:
    """Stands for an array."""

    def __init__(self) -> None:
        self.items = [3, 1, 2] * 9


@pytest.fixture(autouse=True)
def _without_the_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


CODES = (
    "f(large)",
    "y = f(large)",
    "large.items.sort()",
    "large.items.append(1)",
    "large = f(large)",
    "[large for _ in range(3)]",
    "next(iter([large]))",
)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("times", [{"number": 2, "repeat": 2}, {"budget": 0.02}])
def test_after_a_measurement(code: str, times: dict[str, Any]) -> None:
    large = Large()
    freed = weakref.ref(large)
    names: dict[str, Any] = {"large": large, "f": lambda x: x}
    result = ipyjaxbench.measure_code(code, names, **times)
    assert result.samples
    del large
    names.clear()
    assert freed() is None


def test_after_a_later_call_that_raises() -> None:
    large = Large()
    freed = weakref.ref(large)
    names: dict[str, Any] = {"large": large, "left": iter(range(3))}
    result = ipyjaxbench.measure_code("large, next(left)", names, restore=False)
    assert any("StopIteration" in note.text for note in result.notes)
    del large
    names.clear()
    assert freed() is None


@pytest.mark.parametrize("code", CODES)
def test_after_a_comparison(code: str) -> None:
    large = Large()
    freed = weakref.ref(large)
    names: dict[str, Any] = {"large": large, "f": lambda x: x}
    entries = [ArmSpec(text, Snippet(Source.plain(text), names)) for text in (code, "f(1)")]
    assert compare_snippets(entries, CompareOptions(budget=0.02)).sides
    del entries
    del large
    names.clear()
    assert freed() is None


def test_after_a_block_whose_copies_were_looked_at() -> None:
    large = Large()
    freed = weakref.ref(large)
    names: dict[str, Any] = {"large": large, "f": lambda x: x}
    transfer_code(Source.plain("y = f(large)"), names)
    del large
    names.clear()
    assert freed() is None


@pytest.mark.parametrize("cell", ["%fwtime -q -n 2 -r 2 f(large)", "%trace_cached f(large)",
                                  "%fwdevices large", "%%fwtime -q -n 2 -r 2\nlarge.items.sort()",
                                  "%%fwcompare -q -b 0.02\na: f(large)\nb: f(1)"])  # fmt: skip
def test_after_a_magic(shell: Shell, cell: str) -> None:
    large = Large()
    freed = weakref.ref(large)
    shell.names.update(large=large, f=lambda x: x)
    shell.run(cell)
    del large, shell.names["large"]
    shell.run("0")  # `_` may have held it
    assert freed() is None
