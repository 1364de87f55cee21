"""Kernels that XLA tuned on a GPU, by texts of programs: a recorded one, and as XLA writes them."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax.compilation import JaxCompilation
from ipyjaxbench.adapters.jax.graphs.autotuning import autotuned_kernels
from ipyjaxbench.frameworks import Autotuned, Placement, Program, Scope, loaded
from ipyjaxbench.timing.autotuning import add_autotuned
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.usercode import Snippet, Source
from tests.results import STEADY, measured, rows

RECORDED = (Path(__file__).parents[2] / "recordings" / "h100" / "product_tanh.hlo.txt").read_text(
    "utf-8"
)
#: A product and a convolution, and Triton kernels before and after XLA rewrites their tiles.
OTHERS = """
%gemm (p0: f32[32,32], p1: f32[32,32]) -> f32[32,32] {
  %p0 = f32[32,32]{1,0} parameter(0)
  %inner = f32[32,32]{1,0} fusion(%p0), kind=kCustom, calls=%whole, backend_config={"fusion_backend_config":{"kind":"__triton_nested_gemm_fusion","block_level_fusion_config":{"num_warps":"2"}}}
  ROOT %dot = f32[32,32]{1,0} dot(%inner, %inner), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

%softmax (p2: f32[32,32]) -> f32[32,32] {
  ROOT %p2 = f32[32,32]{1,0} parameter(0)
}

ENTRY %main (a: f32[32,32], w: f32[3,3]) -> f32[32,32] {
  %a = f32[32,32]{1,0} parameter(0)
  %tiled = f32[32,32]{1,0} fusion(%a, %a), kind=kCustom, calls=%gemm, backend_config={"fusion_backend_config":{"kind":"__triton_gemm","triton_gemm_config":{"block_m":"16"}}}
  %nested = f32[32,32]{1,0} fusion(%a, %a), kind=kCustom, calls=%gemm, backend_config={"fusion_backend_config":{"kind":"__triton_nested_gemm_fusion","block_level_fusion_config":{"num_warps":"2"}}}
  %other = f32[32,32]{1,0} fusion(%a), kind=kCustom, calls=%softmax, backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"2"}}}
  %conv = (f32[32,32]{1,0}, u8[0]{0}) custom-call(%a, %a), custom_call_target="__cudnn$convForward", backend_config={"cudnn_conv_backend_config":{"activation_mode":"kNone","algorithm":{"algo_id":"28"}}}
  %first = (f32[32,32]{1,0}, u8[0]{0}) custom-call(%a, %a), custom_call_target="__cudnn$convForward", backend_config={"cudnn_conv_backend_config":{"activation_mode":"kNone"}}
  %own = (f32[32,32]{1,0}, u8[0]{0}) custom-call(%a, %a), custom_call_target="__cudnn$fmhaSoftmax", backend_config={"cudnn_fmha_backend_config":{"algorithm":{"algo_id":"0"}}}
  ROOT %product = (f32[32,32]{1,0}, s8[64]{0}) custom-call(%a, %a), custom_call_target="__cublas$lt$matmul", backend_config={"gemm_backend_config":{"alpha_real":1}}
}
"""  # noqa: E501


@pytest.fixture(autouse=True)
def _no_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLA_FLAGS", raising=False)


def test_only_kernels_for_which_a_choice_is_written_down_count() -> None:
    assert autotuned_kernels(RECORDED) == {"cublas matmul": 1}
    assert autotuned_kernels(OTHERS) == {"triton gemm": 2, "cudnn convForward": 1}


@pytest.mark.parametrize(
    ("flags", "tunes"),
    [("--xla_gpu_autotune_level=0", False), ("--xla_gpu_autotune_level=4", True),
     ("--xla_dump_to=a --xla_gpu_deterministic_ops=true", False),
     ("--xla_gpu_deterministic_ops", False), ("--xla_gpu_deterministic_ops=false", True),
     ("--xla_gpu_exclude_nondeterministic_ops=true", False)],
)  # fmt: skip
def test_where_tuning_is_off_the_first_candidate_is_no_choice(
    monkeypatch: pytest.MonkeyPatch, flags: str, tunes: bool
) -> None:
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert bool(autotuned_kernels(RECORDED)) is tunes


@jax.jit
def step(x: Any) -> Any:
    return jnp.tanh(x @ x)


X = jnp.ones((8, 8))


def told(code: str = "step(x)", place: str = "gpu:0", **facts: Any) -> Measurement:
    """A measurement on a GPU, as far as it says, with what was tuned."""
    frameworks = [f for f in loaded()[0] if f.name == "jax"]
    scope = Scope(Snippet(Source.plain(code), {"step": step, "x": X}), frameworks)
    inputs = (Placement("x", "jax", 1, "float32", (8, 8), (place,), 256),)
    facts = {"phases": {"compile": 0.944}, **facts}
    programs = (Program("step", 0.944, facts.pop("origin", "compiled"), "jax"),)
    m = measured(STEADY, inputs=inputs, programs=programs, compilations=1, **facts)
    return add_autotuned(m, scope, frameworks)


def test_the_first_call_on_a_gpu_says_what_was_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    step(X)
    monkeypatch.setattr(JaxCompilation, "compiled_text", lambda *_: RECORDED)
    m = told()
    assert m.autotuned == (Autotuned("jax", 1, {"cublas matmul": 1}),)
    assert rows(m)["autotuning"] == "of up to 1 kernel, part of compile (1 cublas matmul)"
    assert Measurement.from_dict(m.to_dict()).autotuned == m.autotuned
    assert told("step(x); step(x)").autotuned == m.autotuned
    none = (told(place="cpu:0"), told(origin="disk cache"), told(phases={"compile": 0.05}),
            told(phases={}), told("x + 1"))  # fmt: skip
    assert not any(each.autotuned for each in none)
    monkeypatch.setattr(JaxCompilation, "compiled_text", lambda *_: None)
    assert told().autotuned == ()  # what is not in memory is not compiled for it


def test_calls_on_this_machine_say_nothing() -> None:
    m = ipyjaxbench.measure_code("step(x)", {"step": step, "x": X}, number=2, repeat=2)
    assert m.autotuned == ()
    assert "autotuning" not in rows(m)
