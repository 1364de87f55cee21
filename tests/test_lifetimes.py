"""What was measured is freed as soon as the user lets go of it: it may fill a device's memory."""

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError

import ipyjaxbench
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.shell import Shell


class Large:
    """Stands for an array."""

    def __init__(self) -> None:
        self.items = [3, 1, 2] * 9


@pytest.fixture(autouse=True, scope="module")
def _without_the_collector() -> Iterator[None]:
    gc.collect()  # which takes a second
    gc.disable()
    yield
    gc.enable()


CODES = (
    "f(large)", "y = f(large)", "large.items.sort()", "large.items.append(1)", "large = f(large)",
    "[large for _ in range(3)]", "next(iter([large]))", "large.kept = [1]",
)  # fmt: skip


def frees(act: Callable[[dict[str, Any]], object]) -> bool:
    """Whether a large object is freed when the names are gone with which something is done."""
    names: dict[str, Any] = {"large": Large(), "f": lambda x: x, "left": iter(range(3))}
    freed = weakref.ref(names["large"])
    act(names)
    names.clear()
    return freed() is None


@pytest.mark.parametrize(
    "times", [{"number": 2, "repeat": 2}, {"budget": 0.02}, {"budget": 0.02, "restore": False}]
)
def test_after_a_measurement(times: dict[str, Any]) -> None:
    for code in CODES:
        assert frees(lambda names, code=code: ipyjaxbench.measure_code(code, names, **times)), code


def test_after_a_later_call_that_raises() -> None:
    def measure(names: dict[str, Any]) -> None:
        result = ipyjaxbench.measure_code("large, next(left)", names, restore=False)
        assert any("StopIteration" in note.text for note in result.notes)

    assert frees(measure)


def test_after_a_comparison() -> None:
    def compare(names: dict[str, Any], code: str) -> None:
        entries = [ArmSpec(text, Snippet(Source.plain(text), names)) for text in (code, "f(1)")]
        assert compare_snippets(entries, CompareOptions(budget=0.02)).sides

    for code in CODES:
        assert frees(lambda names, code=code: compare(names, code)), code


def test_after_a_block_whose_copies_were_looked_at() -> None:
    assert frees(lambda names: transfer_code(Source.plain("y = f(large)"), names))


def test_after_a_magic(shell: Shell) -> None:
    shell.names["f"] = lambda x: x
    for cell in ("%fwtime -q -n 2 -r 2 f(large)", "%trace_cached f(large)", "%fwdevices large",
                 "%%fwtime -q -n 2 -r 2\nlarge.items.sort()",
                 "%%fwcompare -q -b 0.02\na: f(large)\nb: f(1)"):  # fmt: skip
        shell.names["large"] = Large()
        freed = weakref.ref(shell.names["large"])
        shell.run(cell)
        del shell.names["large"]
        shell.run("0")  # `_` may have held it
        assert freed() is None, cell


def test_after_an_error_of_ours_that_is_told_in_one_line() -> None:
    def fail(large: Large) -> None:
        found.append(weakref.ref(large))
        raise OptionError("no such option")

    found: list[weakref.ref[Large]] = []
    with contextlib.suppress(UsageError), one_line_errors():
        fail(Large())
    assert found[0]() is None
