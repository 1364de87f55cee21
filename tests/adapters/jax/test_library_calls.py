"""Calls of libraries in compiled programs: of an H100, as it was recorded, and of this machine."""

from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.graphs.library_calls import library_calls, spell_library
from ipyjaxbench.adapters.jax.graphs.stages import LiveProgram
from ipyjaxbench.graphs import LibraryCalls
from tests.shell import Shell

RECORDED = Path(__file__).parents[2] / "recordings" / "h100" / "product_tanh.hlo.txt"
SIDE = 2048
FOUND = (LibraryCalls("cublas matmul", 1, 2.0 * SIDE**3),)
LOOP = """
%body (state: (s32[], f32[8,8], f32[8,8])) -> (s32[], f32[8,8], f32[8,8]) {
  %state = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) parameter(0)
  %x = f32[8,8]{1,0} get-tuple-element(%state), index=1
  %gemm = (f32[8,8]{1,0}, s8[64]{0}) custom-call(%x, %x), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}
  %sort = f32[8,8]{1,0} custom-call(%x), custom_call_target="__cub$DeviceRadixSort"
  ROOT %tuple = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%state, %x, %x)
}

ENTRY %main (y: f32[8,8]) -> (s32[], f32[8,8], f32[8,8]) {
  %y = f32[8,8]{1,0} parameter(0)
  %tuple.1 = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%y, %y, %y)
  %done = (s32[], f32[8,8]{1,0}, f32[8,8]{1,0}) while(%tuple.1), condition=%c, body=%body, backend_config={"known_trip_count":{"n":"12"}}
  ROOT %gemm.1 = (f32[8,8]{1,0}, s8[64]{0}) custom-call(%y, %y), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}
}
"""  # noqa: E501


def test_calls_have_their_flops_and_in_a_loop_count_as_often_as_it_turns() -> None:
    assert library_calls(RECORDED.read_text("utf-8")) == FOUND
    assert library_calls(LOOP) == (
        LibraryCalls("cublas gemm", 13, 13 * 2.0 * 8**3),
        LibraryCalls("cub DeviceRadixSort", 12, 0.0),
    )


@pytest.mark.parametrize("target", ["", "Sharding", "xla_ffi_python_cpu_callback", "__", "__$x"])
def test_what_is_no_function_of_a_library_has_no_name(target: str) -> None:
    assert spell_library(target) == ""


@pytest.fixture
def on_an_h100(monkeypatch: pytest.MonkeyPatch, shell: Shell) -> Shell:
    """A shell in which `step` compiles to what an H100 made of it, with XLA's counts of that."""
    memory = SimpleNamespace(
        temp_size_in_bytes=33554688, argument_size_in_bytes=16777216,
        output_size_in_bytes=16777216, alias_size_in_bytes=0,
    )  # fmt: skip
    compiled = SimpleNamespace(
        as_text=lambda: RECORDED.read_text("utf-8"),
        cost_analysis=lambda: {"flops": -1.0, "transcendentals": 4194304.0},
        memory_analysis=lambda: memory,
    )
    monkeypatch.setattr(LiveProgram, "_compiled", compiled)
    step = jax.jit(lambda x: jnp.tanh(x @ x))
    shell.names.update(step=step, x=jnp.ones((SIDE, SIDE)))
    return shell


def test_they_stand_above_the_optimized_text_and_once_where_the_counts_differ(
    on_an_h100: Shell,
) -> None:
    on_an_h100.run("%jaxpr --stage optimized step(x)")
    text = on_an_h100.shown[-1].data["text/plain"]
    assert "library calls  1 cublas matmul, 17.2 GFLOP" in text
    assert text.index("library calls") < text.index("HloModule") < text.index("compiled")
    on_an_h100.run("g = %jaxpr -q --stats step(x)")
    g = on_an_h100.names["g"]
    text = " ".join(str(g).split())
    assert "XLA does not count 17.2 GFLOP in library calls (cublas matmul)." in text
    assert "1 cublas matmul" not in text
    assert g.compiled.libraries == FOUND
    assert type(g).from_dict(g.to_dict()).compiled == g.compiled
