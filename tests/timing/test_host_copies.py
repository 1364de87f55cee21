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
A, B, ON_HOST_X, ON_HOST_Y, UNNAMED = (dataclasses.replace(HOST, name=n) for n in [*"abxy", ""])
X, Y, T, Z = (dataclasses.replace(JAX, name=name) for name in "xytz")


TO_HOST = "the result is copied to the host from {} (12 B)."
FETCHED = "the result is copied to the host from torch cuda:0."
TO_JAX = "{} may be copied from the host to jax cpu:0 (12 B)."


@pytest.mark.parametrize(
    ("code", "inputs", "outputs", "texts"),
    [
        # What stays where it is is no copy. On a CPU device memory is shared.
        *((code, [JAX], [JAX], []) for code in ["f(x)", "x.sum()", "for i in x: i",
          "jnp.asarray(x)", "t.cpu()", "t.item()", "jax.device_put(t)", "t.numpy()"]),
        *((code, [HOST], [HOST], []) for code in ["h + 1", "np.asarray(h)", "h.item()", "f()"]),
        ("t.cpu()", [JAX], [VIEW], []), ("t.numpy()", [JAX], [VIEW], []),
        *((code, [HOST], [CUDA], []) for code in ["torch.from_numpy(h)", "torch.as_tensor(h)",
          "jnp.from_dlpack(h)"]),
        ("f(h)", [OBJECTS], [JAX], []),  # objects of Python stay where they are
        # Statements that have nothing to do with each other.
        ("b = a + 1\ny = jnp.sin(x)", [A, X], [B, Y], []),
        ("y = jnp.sin(x)\na + 1", [A, X], [Y, UNNAMED], []),
        ("a + 1, jnp.sin(x)", [A, X], [HOST, JAX], []),
        ("a = 1; a", [], [HOST], []),
        # A result that comes to the host.
        ("np.asarray(x)", [JAX], [HOST], [TO_HOST.format("jax cpu:0")]),
        ("np.asarray(f(t, x, x2))", [CUDA, JAX, JAX], [HOST],
         [TO_HOST.format("jax cpu:0, torch cuda:0")]),
        ("t.cpu().numpy()", [CUDA], [VIEW], [TO_HOST.format("torch cuda:0")]),  # copied before
        # It is fetched, though no host array is given.
        *((code, [CUDA], [], [FETCHED]) for code in ["t.item()", "t.cpu()", "y = g(t).tolist()",
          "jax.device_get(t)"]),
        # It is the one of several statements.
        ("b = a + 1\ny = np.asarray(x)", [A, X], [B, ON_HOST_Y], [TO_HOST.format("jax cpu:0")]),
        ("t = jnp.sin(x)\nb = np.asarray(t)", [A, X], [T, B], [TO_HOST.format("jax cpu:0")]),
        ("np.asarray(x), a + 1", [A, X], [HOST], [TO_HOST.format("jax cpu:0")]),
        ("x = np.asarray(x); b = x + 1", [X], [ON_HOST_X, B], [TO_HOST.format("jax cpu:0")]),
        # Host data that goes to a device.
        ("jnp.sin(h)", [HOST], [JAX], [TO_JAX.format("h")]),
        ("f(h, k)", [HOST, OTHER], [CUDA],
         ["h, k may be copied from the host to torch cuda:0 (112 B)."]),
        ("jax.device_put(3.0)", [], [CUDA], ["data may be copied from the host to torch cuda:0."]),
        ("b = a + 1\ny = jnp.sin(a)\nz = x + 1", [A, X], [B, Y, Z], [TO_JAX.format("a")]),
        ("a + 1, f(x, a)", [A, X], [JAX], [TO_JAX.format("a")]),
        ("np.asarray(f(x, h))", [JAX, HOST], [HOST, JAX],
         [TO_HOST.format("jax cpu:0"), TO_JAX.format("h")]),
    ],
)  # fmt: skip
def test_what_crosses_between_host_and_devices_is_told(
    code: str, inputs: list[Placement], outputs: list[Placement], texts: list[str]
) -> None:
    found = list(check_copies(ast.parse(code).body, inputs, outputs))
    assert {note.code for note in found} <= {"copies"}
    assert [note.text.removeprefix("In every call, ") for note in found] == texts


def test_an_array_that_keeps_its_copy_crosses_once() -> None:
    far, statements = dataclasses.replace(JAX, devices=("gpu:0",)), ast.parse("np.asarray(x)").body
    for kept, times in ((), 1), (["x"], 0), (["y"], 1):
        assert len(list(check_copies(statements, [far], [VIEW], kept))) == times


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
    ("codes", "told"),
    [(["np.asarray(x)", "np.array(x)", "x.tolist()", "x.item()", "float(x)", "int(x)",
       "y = bool(x)", "complex(x)", "jax.device_get(x)"], ["x"]),
     (["np.asarray(y)", "np.asarray(z)", "np.asarray(h)", "np.asarray(x + 1)", "np.sin(x)",
       "x.sum()", "x = np.asarray(x)", "np.asarray()", "x"], [])],  # made in each call
)  # fmt: skip
def test_where_a_copy_takes_longer_than_calls_all_but_the_first_found_it(
    converted: Any, codes: list[str], told: list[str]
) -> None:
    for code in codes:
        assert converted(code) == told, code
        assert converted(code, "x") == []  # it is made anew before each call
