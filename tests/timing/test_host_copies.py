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


VIEW = dataclasses.replace(HOST, view=True)
OBJECTS = dataclasses.replace(HOST, dtype="object")
OTHER = Placement("k", "numpy", 2, "int64", None, (), 100)
A, B, X = (
    dataclasses.replace(place, name=name) for place, name in ((HOST, "a"), (HOST, "b"), (JAX, "x"))
)
Y, T = (dataclasses.replace(JAX, name=name) for name in "yt")
ON_HOST_X = dataclasses.replace(HOST, name="x")


def copy_texts(code: str, inputs: list[Placement], outputs: list[Placement]) -> list[str]:
    """What is told to be copied, without what all Notes say."""
    found = list(check_copies(ast.parse(code).body, inputs, outputs))
    assert {note.code for note in found} <= {"copies"}
    return [note.text.removeprefix("In every call, ") for note in found]


@pytest.mark.parametrize(
    ("codes", "inputs", "outputs"),
    [
        (["f(x)", "x.sum()", "for i in x: i", "jnp.asarray(x)"], [JAX], [JAX]),
        (["h + 1", "np.asarray(h)", "h.item()", "f()"], [HOST], [HOST]),
        # On a CPU device memory is shared.
        (["t.cpu()", "t.item()", "jax.device_put(t)", "t.numpy()"], [JAX], [JAX]),
        (["t.cpu()", "t.numpy()"], [JAX], [VIEW]),
        (["torch.from_numpy(h)", "torch.as_tensor(h)", "jnp.from_dlpack(h)"], [HOST], [CUDA]),
        (["f(h)"], [OBJECTS], [JAX]),  # objects of Python stay where they are
        # Statements that have nothing to do with each other.
        (["b = a + 1\ny = jnp.sin(x)"], [A, X], [B, Y]),
        (["y = jnp.sin(x)\na + 1"], [A, X], [Y, dataclasses.replace(HOST, name="")]),
        (["a + 1, jnp.sin(x)"], [A, X], [HOST, JAX]),
        (["a = 1; a"], [], [HOST]),
    ],
)
def test_what_stays_where_it_is_is_no_copy(
    codes: list[str], inputs: list[Placement], outputs: list[Placement]
) -> None:
    for code in codes:
        assert copy_texts(code, inputs, outputs) == [], code


@pytest.mark.parametrize(
    ("code", "inputs", "outputs", "source", "size"),
    [
        ("np.asarray(x)", [JAX], [HOST], "jax cpu:0", " (12 B)"),
        ("np.asarray(f(t, x, x2))", [CUDA, JAX, JAX], [HOST], "jax cpu:0, torch cuda:0", " (12 B)"),
        ("t.cpu().numpy()", [CUDA], [VIEW], "torch cuda:0", " (12 B)"),  # it was copied before
        # It is fetched, though no host array is given.
        ("t.item()", [CUDA], [], "torch cuda:0", ""),
        ("t.cpu()", [CUDA], [], "torch cuda:0", ""),
        ("y = g(t).tolist()", [CUDA], [], "torch cuda:0", ""),
        ("jax.device_get(t)", [CUDA], [], "torch cuda:0", ""),
        # It is the one of several statements.
        ("b = a + 1\ny = np.asarray(x)", [A, X], [B, dataclasses.replace(HOST, name="y")],
         "jax cpu:0", " (12 B)"),
        ("t = jnp.sin(x)\nb = np.asarray(t)", [A, X], [T, B], "jax cpu:0", " (12 B)"),
        ("np.asarray(x), a + 1", [A, X], [HOST], "jax cpu:0", " (12 B)"),
        ("x = np.asarray(x); b = x + 1", [X], [ON_HOST_X, B], "jax cpu:0", " (12 B)"),
    ],
)  # fmt: skip
def test_a_result_that_comes_to_the_host_is_told(
    code: str, inputs: list[Placement], outputs: list[Placement], source: str, size: str
) -> None:
    text = f"the result is copied to the host from {source}{size}."
    assert copy_texts(code, inputs, outputs) == [text]


@pytest.mark.parametrize(
    ("code", "inputs", "outputs", "text"),
    [
        ("jnp.sin(h)", [HOST], [JAX], "h may be copied from the host to jax cpu:0 (12 B)."),
        ("f(h, k)", [HOST, OTHER], [CUDA],
         "h, k may be copied from the host to torch cuda:0 (112 B)."),
        ("jax.device_put(3.0)", [], [CUDA], "data may be copied from the host to torch cuda:0."),
        ("b = a + 1\ny = jnp.sin(a)\nz = x + 1", [A, X], [B, Y, dataclasses.replace(JAX, name="z")],
         "a may be copied from the host to jax cpu:0 (12 B)."),
        ("a + 1, f(x, a)", [A, X], [JAX], "a may be copied from the host to jax cpu:0 (12 B)."),
    ],
)  # fmt: skip
def test_host_data_that_goes_to_a_device_is_told_by_name(
    code: str, inputs: list[Placement], outputs: list[Placement], text: str
) -> None:
    assert copy_texts(code, inputs, outputs) == [text]


def test_both_directions_are_told() -> None:
    assert copy_texts("np.asarray(f(x, h))", [JAX, HOST], [HOST, JAX]) == [
        "the result is copied to the host from jax cpu:0 (12 B).",
        "h may be copied from the host to jax cpu:0 (12 B).",
    ]


def test_an_array_that_keeps_its_copy_crosses_once() -> None:
    far, statements = dataclasses.replace(JAX, devices=("gpu:0",)), ast.parse("np.asarray(x)").body
    assert len(list(check_copies(statements, [far], [VIEW]))) == 1
    assert list(check_copies(statements, [far], [VIEW], kept=["x"])) == []
    assert len(list(check_copies(statements, [far], [VIEW], kept=["y"]))) == 1


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
