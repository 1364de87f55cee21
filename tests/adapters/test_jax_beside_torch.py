"""Calls in a session that has imported JAX and PyTorch, which compiles functions as they stand."""

from pathlib import Path

import jax
import pytest
import torch
import torch._dynamo

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.shell import Shell

START = """
import functools, jax, torch, helper_of_torch
f = jax.jit(lambda x: x * 3)
def loss(v): return f(v).sum()
class Model:
    def loss(self, v): return f(v).sum()
model, x, t = Model(), jax.numpy.ones(3), torch.ones(3)
def aid(v): return v.sin() * 2
@torch.compile(backend="eager")
def c(v): return aid(v) + 1
def calls_it(v): return c(v)
eager = functools.partial(torch.compile, backend="eager")
"""
HELPER = """
import torch
def apply(function, v): return torch.compile(function, backend="eager")(v)
"""


@pytest.fixture
def cells(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    (tmp_path / "helper_of_torch.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    torch._dynamo.reset()
    jax.clear_caches()
    TRACE_LOG.clear()
    shell.run(START)
    return shell


def states(cells: Shell, cell: str) -> list[str]:
    cells.run(f"%%trace_cached -qv looked\n{cell}")
    return [call.state for call in cells.names["looked"].calls for _ in range(call.times)]


@pytest.mark.parametrize(
    "call",
    [
        "jax.grad(lambda v: f(v).sum())(x)",
        "jax.grad(loss)(x)",
        "jax.value_and_grad(model.loss)(x)",
        "jax.vmap(f)(x)",
        "jax.grad(loss)(jax.numpy.asarray((t + 1).numpy()))",
    ],
)
def test_cache_hits_below_transformations_of_jax_are_seen(cells: Shell, call: str) -> None:
    found = states(cells, f"for _ in range(3):\n    {call}")
    assert found == ["TRACED", "CACHED", "CACHED"]


@pytest.mark.parametrize(
    "call",
    [
        "c(t)",
        "calls_it(t)",
        "(lambda v: c(v))(t)",
        "list(map(lambda v: c(v), [t]))",
        "{'a': [calls_it]}['a'][0](t)",
    ],
)
def test_what_pytorch_compiles_is_compiled_as_it_stands(cells: Shell, call: str) -> None:
    assert states(cells, f"jax.grad(loss)(x)\n{call}")[-1] == "TRACED"  # and no graph break
    assert states(cells, call) == ["CACHED"]
    before = torch._dynamo.utils.counters["frames"]["total"]
    cells.run(call)
    assert torch._dynamo.utils.counters["frames"]["total"] == before


@pytest.mark.parametrize(
    "call",
    [
        "torch.compile(lambda v: aid(v) + 2, backend='eager')(t)",
        "helper_of_torch.apply(lambda v: aid(v) + 3, t)",
        "eager(lambda v: aid(v) + 4)(t)",
        "def here(v): return aid(v) + 5\naid(t)\neager(here)(t)",
        "def inside(v):\n    @eager\n    def here(v): return aid(v)\n    return here(v)\ninside(t)",
    ],
)
def test_so_is_what_it_compiles_within_the_cell(cells: Shell, call: str) -> None:
    assert states(cells, f"jax.grad(loss)(x)\n{call}")[-1] == "TRACED"
