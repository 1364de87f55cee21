"""The NumPy adapter."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.numpy.framework import NumPy
from ipyjaxbench.device.locate import locate
from ipyjaxbench.frameworks import Framework, Placement
from ipyjaxbench.timing.protocol import Caveats
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.adapters.contract import Contract


class TestNumPy(Contract):
    devices = ("cpu",)
    multiplied = ("float32", "float64")

    @pytest.fixture
    def framework(self) -> Framework:
        from ipyjaxbench.frameworks import loaded

        return next(f for f in loaded()[0] if isinstance(f, NumPy))

    @pytest.fixture
    def array(self) -> object:
        return np.ones((2, 3), np.float32)


def test_the_global_random_state_is_that_after_one_run() -> None:
    np.random.seed(3)
    first, second = np.random.rand(2)
    np.random.seed(3)
    names = {"np": np}
    ipyjaxbench.measure_code("r = np.random.rand()", names, budget=0.05)
    assert names["r"] == first
    assert np.random.rand() == second


def test_work_in_place_is_told_with_its_number_of_calls() -> None:
    names = {"a": np.zeros(3)}
    result = ipyjaxbench.measure_code("a += 1", names, number=5, repeat=2, restore=False)
    (note,) = [note for note in result.notes if note.code == "state-advanced"]
    assert names["a"][0] == 10
    assert note.text.startswith("'a' advanced by 10 calls instead of one")


def placed(name: str, dtype: str, *shape: int, framework: str = "numpy") -> Placement:
    return Placement(name, framework, 1, dtype, shape, ("cpu",), 64)


#: Whole numbers and single rows go another way in NumPy, and others' arrays are theirs to tell.
INPUTS = (
    placed("x", "float64", 4, 4), placed("other", "float64", 4, 4), placed("whole", "int64", 4, 4),
    placed("row", "float64", 4), placed("cube", "float32", 4, 4, 4),
    placed("m", "complex128", 4, 4), placed("t", "float32", 4, 4, framework="torch"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "told"),
    [("y = 1 + np.tanh(x @ x.T)", "x"), ("x.T @ x", "x"), ("np.dot(x, x.T)", "x"),
     ("np.matmul(x.T, x)", "x"), ("x.T.dot(x)", "x"), ("x.dot(x.T)", "x"),
     ("m @ m.T; m.T @ m; (t + m).dot(t.T)", "m"), ("x @ x", ""), ("x @ other.T", ""),
     ("whole @ whole.T", ""), ("row @ row.T", ""), ("cube @ cube.T", ""), ("t @ t.T", ""),
     ("np.add(x, x.T)", "")],
)  # fmt: skip
def test_a_product_of_which_half_is_computed_is_told(code: str, told: str) -> None:
    facts = CodeFacts(inputs=INPUTS, statements=tuple(ast.parse(code).body))
    notes = [*NumPy().capability(Caveats).caveats(facts)]
    assert [note.code for note in notes] == ["half-product"] * bool(told)
    assert all(note.text.startswith(f"NumPy uses the symmetry of {told} @") for note in notes)


def test_a_view_is_placed_as_one() -> None:
    array = np.ones(3)
    assert [NumPy().placement(each).view for each in (array, array[1:])] == [False, True]


def test_views_share_the_memory_of_the_array_that_they_look_into() -> None:
    array = np.ones((4, 6))
    found = locate({"rows": array[1:][1:], "a": array, "turned": array.T, "other": array.copy()})
    assert [each.of for each in found.arrays] == ["a", "", "a", ""]
    assert found.by_device() == {"cpu": (2, 2 * 192)}


def test_an_array_in_a_file_is_told_with_the_file(tmp_path: Path) -> None:
    array = np.memmap(tmp_path / "numbers", dtype=np.float32, mode="w+", shape=(3,))
    (found,) = locate({"a": array[1:]}).arrays
    assert found.memory == f"memory-mapped from {tmp_path / 'numbers'}"


@pytest.mark.parametrize(("array", "layout", "nbytes"), [
    (np.broadcast_to(np.float64(1), (3, 4)), "broadcast along axes 0, 1", 8),
    (np.ones((2, 3, 4)).transpose(2, 0, 1), "memory order of axes 1, 2, 0", 192),
    (np.ones((4, 4))[:, ::2], "strided, view of 128 B", 64),
    (np.ma.ones(3), "MaskedArray", 24),
    (np.ones((0, 3)).T, "", 0),
])  # fmt: skip
def test_the_layout_of_an_array_is_told_where_it_is_not_the_usual_one(
    array: object, layout: str, nbytes: int
) -> None:
    (found,) = locate({"a": array}).arrays
    assert (found.layout, found.nbytes) == (layout, nbytes)


def test_an_array_of_objects_is_told_to_hold_no_numbers() -> None:
    (found,) = locate({"x": np.array([object()], dtype=object)}).arrays
    assert (found.framework, found.layout) == ("", "an array of Python objects")


def test_a_table_of_pandas_is_told_with_its_bytes() -> None:
    pandas = pytest.importorskip("pandas")
    names = {"table": pandas.DataFrame({"a": np.ones(1024)}), "index": pandas.Index(["a", "b"])}
    told = [(each.framework, each.layout) for each in locate(names).arrays]
    assert told[0][0] == told[1][0] == ""
    assert told[0][1].startswith("8.")  # with its index, of which it keeps the range
    assert told[1][1].endswith(" on the host (pandas)")


@pytest.mark.parametrize(
    ("dtype", "told"),
    [("U5", "U5"), ("S44", "S44"), ("V8", "V8"), ([("a", "f8"), ("b", "S44")], "structured"),
     ("f8", "float64"), ("M8[ns]", "datetime64[ns]")],
)  # fmt: skip
def test_types_are_told_as_numpy_prints_them(dtype: Any, told: str) -> None:
    array = np.zeros(4, dtype=dtype)
    result = ipyjaxbench.measure_code("array.copy()", {"array": array}, budget=0.01)
    assert [place.dtype for place in result.inputs] == [told]
    assert [each.dtype for each in locate({"array": array}).arrays] == [told]


def test_types_of_other_packages_are_told_by_their_names() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert [each.dtype for each in locate({"x": np.ones(3, bfloat16)}).arrays] == ["bfloat16"]
