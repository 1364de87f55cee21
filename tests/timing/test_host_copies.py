"""Copies between frameworks, and between host and devices."""

import ast
import dataclasses
from typing import Any

import pytest

from ipyjaxbench.device import ArrayInspector
from ipyjaxbench.frameworks import Scope
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing.validity.host_copies import check_cached_copies, check_copies
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import Bench

HOST = Placement("h", "numpy", 1, "float32", (3,), ("host",), 12)
JAX = Placement("x", "jax", 1, "float32", (3,), ("cpu:0",), 12)
CUDA = Placement("t", "torch", 1, "float32", (3,), ("cuda:0",), 12)


def copy_texts(code: str, inputs: list[Placement], outputs: list[Placement]) -> list[str]:
    """The texts of the Notes."""
    return [note.text for note in check_copies(ast.parse(code).body, inputs, outputs)]


@pytest.mark.parametrize("code", ["f(x)", "x + 1", "x.sum()", "for i in x: i"])
def test_work_that_stays_on_the_device_is_not_a_copy(code: str) -> None:
    assert copy_texts(code, [JAX], [JAX]) == []


@pytest.mark.parametrize("code", ["h + 1", "np.asarray(h)", "np.array(h)", "h.item()", "f()"])
def test_work_that_stays_on_the_host_is_not_a_copy(code: str) -> None:
    assert copy_texts(code, [HOST], [HOST]) == []


def test_a_result_that_comes_to_the_host_is_told_with_its_size() -> None:
    text = "In every call, the result is copied to the host from jax cpu:0 (12 B)."
    assert copy_texts("np.asarray(x)", [JAX], [HOST]) == [text]


@pytest.mark.parametrize("code", ["t.item()", "t.cpu()", "y = g(t).tolist()", "jax.device_get(t)"])
def test_a_value_that_is_fetched_is_told_even_where_no_host_array_is_given(code: str) -> None:
    assert copy_texts(code, [CUDA], []) == [
        "In every call, the result is copied to the host from torch cuda:0."
    ]


def test_host_data_that_a_device_result_is_made_of_is_told_by_name() -> None:
    text = "In every call, h may be copied from the host to jax cpu:0 (12 B)."
    assert copy_texts("jnp.sin(h)", [HOST], [JAX]) == [text]


def test_several_host_arrays_are_told_together() -> None:
    other = Placement("k", "numpy", 2, "int64", None, (), 100)
    text = "In every call, h, k may be copied from the host to torch cuda:0 (112 B)."
    assert copy_texts("f(h, k)", [HOST, other], [CUDA]) == [text]


def test_a_call_that_moves_data_is_told_even_where_no_array_is_known() -> None:
    text = "In every call, data may be copied from the host to torch cuda:0."
    assert copy_texts("jax.device_put(3.0)", [], [CUDA]) == [text]


def test_both_directions_are_told() -> None:
    texts = copy_texts("np.asarray(f(x, h))", [JAX, HOST], [HOST, JAX])
    assert texts == [
        "In every call, the result is copied to the host from jax cpu:0 (12 B).",
        "In every call, h may be copied from the host to jax cpu:0 (12 B).",
    ]


def test_several_devices_are_named_once_each_in_order() -> None:
    texts = copy_texts("np.asarray(f(t, x, x2))", [CUDA, JAX, JAX], [HOST])
    assert texts == [
        "In every call, the result is copied to the host from jax cpu:0, torch cuda:0 (12 B)."
    ]


def test_an_array_that_keeps_its_copy_crosses_once() -> None:
    far = dataclasses.replace(JAX, devices=("gpu:0",), name="x")
    statements = ast.parse("np.asarray(x)").body
    view = dataclasses.replace(HOST, view=True)
    assert [n.code for n in check_copies(statements, [far], [view])] == ["copies"]
    assert list(check_copies(statements, [far], [view], kept=["x"])) == []
    assert len(list(check_copies(statements, [far], [view], kept=["y"]))) == 1


def test_each_note_is_one_of_the_closed_list() -> None:
    notes = list(check_copies(ast.parse("np.asarray(x)").body, [JAX], [HOST]))
    assert [note.code for note in notes] == ["copies"]


@pytest.mark.parametrize("code", ["t.cpu()", "t.item()", "jax.device_put(t)", "t.numpy()"])
def test_on_a_cpu_device_what_shares_memory_is_not_a_copy(code: str) -> None:
    view = dataclasses.replace(HOST, view=True)
    assert copy_texts(code, [JAX], [JAX]) == []
    assert copy_texts(code, [JAX], [view]) == []


def test_a_view_of_what_was_far_away_was_copied_before() -> None:
    view = dataclasses.replace(HOST, view=True)
    text = "In every call, the result is copied to the host from torch cuda:0 (12 B)."
    assert copy_texts("t.cpu().numpy()", [CUDA], [view]) == [text]


def test_an_array_made_from_an_array_of_the_same_device_is_not_a_copy_to_the_host() -> None:
    assert copy_texts("jnp.asarray(x)", [JAX], [JAX]) == []


OWN = [dataclasses.replace(HOST, name="a", nbytes=24), dataclasses.replace(JAX, name="x")]


def made(code: str, **places: Placement) -> list[str]:
    """What is told where the code gives names to arrays like these."""
    return copy_texts(code, OWN, [dataclasses.replace(p, name=n) for n, p in places.items()])


def test_statements_that_have_nothing_to_do_with_each_other_copy_nothing() -> None:
    assert made("b = a + 1\ny = jnp.sin(x)", b=HOST, y=JAX) == []
    assert made("y = jnp.sin(x)\na + 1", y=JAX, **{"": HOST}) == []
    assert copy_texts("a + 1, jnp.sin(x)", OWN, [HOST, JAX]) == []


def test_the_statement_that_copies_is_told_among_others() -> None:
    to_host = "In every call, the result is copied to the host from jax cpu:0 (12 B)."
    to_device = "In every call, a may be copied from the host to jax cpu:0 (24 B)."
    assert made("b = a + 1\ny = np.asarray(x)", b=HOST, y=HOST) == [to_host]
    assert made("t = jnp.sin(x)\nb = np.asarray(t)", t=JAX, b=HOST) == [to_host]
    assert made("b = a + 1\ny = jnp.sin(a)\nz = x + 1", b=HOST, y=JAX, z=JAX) == [to_device]
    assert copy_texts("np.asarray(x), a + 1", OWN, [HOST]) == [to_host]
    assert copy_texts("a + 1, f(x, a)", OWN, [JAX]) == [to_device]


# Copies that arrays keep


@pytest.fixture
def converted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The names of arrays of which copies are kept, as it is told of code with calls of a second.

    Converting ``x`` for the first time takes 1.5 s, and a look at its copy 0.4 s.
    """
    monkeypatch.setattr(bench.framework, "keeps_copies", True)
    x, y = FakeArray(bench.device, 0), FakeArray(bench.device, 1)
    costs = {id(x): (1.5, 0.4), id(y): (1.4, 0.5)}
    monkeypatch.setattr(ArrayInspector, "conversion", lambda self, array: costs.get(id(array)))

    def copy_texts(code: str, *remade: str) -> list[str]:
        names = {"x": x, "y": y, "z": FakeArray(bench.device, 2), "h": [1], "np": None}
        scope = Scope(Snippet(Source.plain(code), names), [bench.framework])
        found = check_cached_copies(scope, remade, [bench.framework], 1.0)
        return [note.text.split()[0] for note in found]

    return copy_texts


@pytest.mark.parametrize(
    "code",
    ["np.asarray(x)", "np.array(x)", "x.tolist()", "x.item()", "float(x)", "int(x)", "y = bool(x)",
     "complex(x)", "jax.device_get(x)"],
)  # fmt: skip
def test_where_a_copy_takes_longer_than_calls_all_but_the_first_found_it(
    converted: Any, code: str
) -> None:
    assert converted(code) == ["x"]
    assert converted(code, "x") == []  # it is made anew before each call


@pytest.mark.parametrize(
    "code",
    ["np.asarray(y)", "np.asarray(z)", "np.asarray(h)", "np.asarray(x + 1)", "np.sin(x)", "x.sum()",
     "x = np.asarray(x)", "np.asarray()", "x"],
)  # fmt: skip
def test_other_conversions_are_made_in_each_call(converted: Any, code: str) -> None:
    assert converted(code) == []


@pytest.mark.parametrize(
    "code", ["torch.from_numpy(a)", "torch.as_tensor(a)", "jnp.from_dlpack(a)"]
)
def test_what_takes_the_memory_of_an_array_copies_nothing(code: str) -> None:
    assert copy_texts(code, [dataclasses.replace(HOST, name="a")], [CUDA]) == []


def test_objects_of_python_stay_where_they_are() -> None:
    assert copy_texts("f(h)", [dataclasses.replace(HOST, dtype="object")], [JAX]) == []


def test_a_name_that_is_bound_anew_is_another_array() -> None:
    moved = dataclasses.replace(HOST, name="x")
    assert copy_texts(
        "x = np.asarray(x); y = x + 1", [JAX], [moved, dataclasses.replace(HOST, name="y")]
    ) == ["In every call, the result is copied to the host from jax cpu:0 (12 B)."]
    assert copy_texts("a = 1; a", [], [HOST]) == []
