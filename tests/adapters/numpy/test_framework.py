"""The NumPy adapter, its linear algebra, and the work of its products."""

import ast
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import ipyjaxbench
from ipyjaxbench.adapters.numpy.devices import NumPyDevices, NumPyProbe
from ipyjaxbench.adapters.numpy.framework import NumPy
from ipyjaxbench.device.locate import locate
from ipyjaxbench.frameworks import Framework, Placement, loaded
from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.timing.protocol import Caveats
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.adapters.contract import Contract
from tests.loads import BYTES, N, in_float32, load


class TestNumPy(Contract):
    devices = ("cpu",)
    multiplied = ("float32", "float64")

    @pytest.fixture
    def framework(self) -> Framework:
        return next(f for f in loaded()[0] if isinstance(f, NumPy))

    @pytest.fixture
    def array(self) -> object:
        return np.ones((2, 3), np.float32)


def test_the_global_random_state_is_that_after_one_run_and_work_in_place_is_told() -> None:
    np.random.seed(3)
    first, second = np.random.rand(2)
    np.random.seed(3)
    names = {"np": np, "a": np.zeros(3)}
    ipyjaxbench.measure_code("r = np.random.rand()", names, budget=0.05)
    assert (names["r"], np.random.rand()) == (first, second)
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
    [("y = 1 + np.tanh(x @ x.T)", "x"), ("np.dot(x, x.T)", "x"),
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


def test_views_share_the_memory_of_the_array_that_they_look_into(tmp_path: Path) -> None:
    array = np.ones((4, 6))
    found = locate({"rows": array[1:][1:], "a": array, "turned": array.T, "other": array.copy()})
    assert [each.of for each in found.arrays] == ["a", "", "a", ""]
    assert found.by_device() == {"cpu": (2, 2 * 192)}
    assert [NumPy().placement(each).view for each in (array, array[1:])] == [False, True]
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


def test_tables_of_pandas_and_arrays_of_objects_hold_no_numbers_of_numpys() -> None:
    pandas = pytest.importorskip("pandas")
    names = {"table": pandas.DataFrame({"a": np.ones(1024)}), "index": pandas.Index(["a", "b"]),
             "objects": np.array([object()], dtype=object)}  # fmt: skip
    table, index, objects = locate(names).arrays
    assert {each.framework for each in (table, index, objects)} == {""}
    assert table.layout.startswith("8.")  # with its index, of which it keeps the range
    assert index.layout.endswith(" on the host (pandas)")
    assert objects.layout == "an array of Python objects"


@pytest.mark.parametrize(
    ("dtype", "told"),
    [("U5", "U5"), ("S44", "S44"), ("V8", "V8"), ([("a", "f8"), ("b", "S44")], "structured"),
     ("f8", "float64"), ("M8[ns]", "datetime64[ns]")],
)  # fmt: skip
def test_types_are_told_as_numpy_prints_them(dtype: Any, told: str) -> None:
    array = np.zeros(4, dtype=dtype)
    assert NumPy().placement(array).dtype == told
    assert [each.dtype for each in locate({"array": array}).arrays] == [told]


def test_types_of_other_packages_are_told_by_their_names() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert NumPy().placement(np.ones(3, bfloat16)).dtype == "bfloat16"


# The threads of its linear algebra


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_threads_of_its_linear_algebra_are_set_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    inventory, before, environment = NumPyDevices(NumPy()), blas_threads(), dict(os.environ)
    assert inventory.threads() == before[0]
    with inventory.align_settings(1):
        assert inventory.threads() == 1
    assert blas_threads() == before
    assert dict(os.environ) == environment
    monkeypatch.setattr("threadpoolctl.threadpool_info", lambda: [{"user_api": "openmp"}])
    assert inventory.threads() is None
    # Its probe negates in place, which reads and writes, and sums.
    assert [moved for _, moved in NumPyProbe().streams(4096)] == [2 * 4096, 4096]


# What a call has to do: plain products alone are known

LEFT, RIGHT = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
WINDOWS = np.lib.stride_tricks.sliding_window_view(np.ones(1000, np.float32), N)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        *((code, in_float32(3 * BYTES)) for code in ("m @ m", "np.dot(m, k)", "np.matmul(m, k)")),
        ("a @ b", in_float32(4 * (3 * 4 + 4 * 5 + 3 * 5), flops=2 * 3 * 4 * 5)),
        # Windows that slide over numbers read each of them once.
        ("w @ c", in_float32(None, flops=2.0 * WINDOWS.size)),
        *((code, None) for code in ("m + m", "m @ v", "m @ d", "np.sum(m)", "m @ m + 1", "n @ n")),
        ("np.matmul(s, s)", None),
    ],
)
def test_the_work_of_a_plain_product_is_known(code: str, found: Workload | None) -> None:
    m = np.ones((N, N), np.float32)
    names = {"v": m[0], "d": m.astype("float64"), "s": m[None], "n": m.view(np.matrix),
             "a": LEFT, "b": RIGHT, "w": WINDOWS, "c": m[:, :1].copy()}  # fmt: skip
    assert load("numpy", code, np=np, m=m, k=m.copy(), **names) == found
