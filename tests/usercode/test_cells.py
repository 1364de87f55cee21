"""What is to be typed so that a name gets a value anew."""

import linecache
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from ipyjaxbench.usercode import CELLS, assignment_of


@pytest.fixture
def cells() -> Iterator[dict[str, int]]:
    """The cells of the only shell, by the names of their files."""
    files: dict[str, int] = {}
    others, CELLS[:] = [*CELLS], [files]
    yield files
    CELLS[:] = others
    for file in files:
        linecache.cache.pop(file, None)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["g = jit(f)"], "g = jit(f)"),
        (["g = jit(f)\ng(1)", "g(2)"], "g = jit(f)"),
        (["g = jit(f)", "g = jit(h)"], "g = jit(h)"),
        (["g = jit(f)\ng = jit(h)"], "g = jit(h)"),
        (["if 1:\n    g = jit(f)"], "g = jit(f)"),
        (["def k():\n    g = jit(f)"], ""),
        (["g = f"], ""),
        (["g = jit(f)", "g = f"], ""),
        (["g, h = jit(f), 1"], ""),
        (["g = h = jit(f)"], ""),
        (["for g in [jit(f)]: pass"], ""),
        (["g = jit(f)", "def g(): pass"], ""),
        (["g = jit(f)", "import x.y as g"], ""),
        (["g = jit(f)", "for h in (1,):\n    g += h"], ""),
        (["g = jit(\n    f\n)"], ""),
        ([f"g = jit({'f' * 60})"], ""),
        (["g = jit(f)", "run_cell_magic('time', '', 'g = jit(h)')"], ""),
        (["g = jit(f)", "print('g', g == 1)"], "g = jit(f)"),
        ([], ""),
    ],
)  # fmt: skip
def test_the_assignment_that_gave_a_name_its_value(
    cells: dict[str, int], typed: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, text in enumerate(typed, 1):
        file = f"<typed {number}>"
        cells[file] = number
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    value, main = object(), ModuleType("__main__")
    vars(main).update(f=1, _g=value, g=value)
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert assignment_of(value) == told
    assert assignment_of(object()) == ""
