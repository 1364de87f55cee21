"""XLA's compiler for CUDA answers for GPUs, on a machine that has none."""

import gzip
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench import Graph
from ipyjaxbench.adapters.jax.chips.gpus import CHIPS
from ipyjaxbench.graphs.compiled import Collective
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

N = 3000
FLOPS = 2.0 * N**3


def _loss(x, w1, w2):
    return jax.nn.softmax(jax.nn.gelu(x @ w1) @ w2).sum()


ARRAYS = {
    "x": ((N, N), "bfloat16"), "f": ((N, N), "float32"), "batch": ((4096, 2048), "bfloat16"),
    "w1": ((2048, 8192), "bfloat16"), "w2": ((8192, 2048), "bfloat16"),
    "image": ((8, 64, 64, 64), "float32"), "kernel": ((3, 3, 64, 64), "float32"),
    "huge": ((200_000, 200_000), "float32"),
}  # fmt: skip
NAMES = {
    "jax": jax,
    "jnp": jnp,
    **{name: jax.ShapeDtypeStruct(*each) for name, each in ARRAYS.items()},
    "step": jax.grad(_loss, argnums=(1, 2)),
    "turns": lambda x: jax.lax.fori_loop(0, 10, lambda _, x: jnp.tanh(x @ x), x),
    "until": lambda x: jax.lax.while_loop(lambda x: x.sum() < 3, lambda x: jnp.tanh(x @ x), x),
    "conv": lambda x, w: jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
}


def graph(code: str, *chips: str, shard: tuple[tuple[str, int], ...] = ()) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(on=chips, shard=shard))


def codes(found: Graph) -> list[str]:
    return [note.code for note in found.notes]


def test_every_gpu_that_is_named_has_a_compiler() -> None:
    found = graph("jnp.tanh(x @ x)", *(f"gpu:{name}" for name in CHIPS))
    *gpus, here = found.estimates
    assert [each.chip for each in gpus if not each.error] == [f"gpu:{name}" for name in CHIPS]
    for each in gpus:
        assert each.flops == FLOPS
        assert each.memory == 2 * 2 * N**2
        assert each.kernels.launches == 1
        assert set(each.kernels.largest[0].does) == {"dot_general", "tanh"}
    assert here.kernels is None


@pytest.mark.parametrize(("code", "peak"), [
    ("x @ x", 989e12), ("f @ f", 495e12), ("jnp.dot(f, f, precision='highest')", 67e12),
])  # fmt: skip
def test_a_product_is_bound_by_the_peak_of_its_dtype(code: str, peak: float) -> None:
    found, _ = graph(code, "gpu:h100").estimates
    assert found.seconds == pytest.approx(FLOPS / peak, rel=0.01)


def test_a_sum_is_bound_by_the_bandwidth() -> None:
    found, _ = graph("f + f", "gpu:h100").estimates
    assert found.flops == 0
    assert found.seconds == pytest.approx(2 * 4 * N**2 / 3.35e12, rel=0.01)


def test_several_gpus_divide_the_work_and_exchange_gradients() -> None:
    found, _ = graph("step(batch, w1, w2)", "gpu:h100x4", shard=(("x", 0),)).estimates
    products = 5 * 2.0 * 4096 * 2048 * 8192
    assert found.flops == pytest.approx(products / 4)
    assert found.collectives == (Collective("all-reduce", 2, 2 * 2 * 2048 * 8192),)
    assert found.seconds == pytest.approx(products / 4 / 989e12, rel=0.01)
    assert found.kernels.seconds > found.seconds
    shares = [each.seconds for each in found.kernels.largest]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(found.kernels.seconds)


def test_loops_count_as_often_as_they_turn_where_that_is_known() -> None:
    known, unknown = (graph(f"{name}(x)", "gpu:h100") for name in ("turns", "until"))
    assert known.estimates[0].flops == 10 * FLOPS
    assert unknown.estimates[0].flops == FLOPS
    assert ("loops-once" in codes(known), "loops-once" in codes(unknown)) == (False, True)


def test_a_convolution_of_a_library_has_its_work() -> None:
    found = graph("conv(image, kernel)", "gpu:a100")
    (convolution, _) = found.estimates
    assert convolution.flops == 2.0 * 8 * 64 * 64 * 64 * 64 * 9
    assert convolution.kernels.libraries == 1
    assert "1 of libraries" in str(found)


def test_what_is_too_large_has_no_time() -> None:
    found = graph("huge @ huge", "gpu:h100")
    text = " ".join(str(found).split())
    assert "gpu:h100 too large: 79.1 GiB of memory, needs 298 GiB" in text
    assert "roofline-bound" not in codes(found)


def test_a_bound_is_called_one() -> None:
    found = graph("x @ x", "gpu:h100", "gpu:l4")
    text = " ".join(str(found).split())
    assert "gpu:h100 ≥ 54.6 µs 54.0 GFLOP" in text
    assert "≥ is a bound, no estimate" in text
    assert "gpu:h100: 1 kernel, ≥ 54.6 µs with all values in memory" in text
    assert codes(found) == ["roofline-bound"]


#: What an H100 took per call of a queue of twenty, in seconds.
TAKEN = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "recordings/h100/programs.json.gz").read_bytes())
)


@pytest.mark.parametrize(("program", "code", "dtype", "shape"), [
    ("mm_bf16_4096", "a @ a", "bfloat16", (4096, 4096)),
    ("mm_bf16_8192", "a @ a", "bfloat16", (8192, 8192)),
    ("mm_f32_8192", "a @ a", "float32", (8192, 8192)),
    ("add_1e8", "a + 1", "float32", (10**8,)),
    ("reduce_1e8", "a.sum()", "float32", (10**8,)),
    ("softmax_8192", "jax.nn.softmax(a)", "float32", (8192, 8192)),
    ("transpose", "a.T + 0", "float32", (8192, 8192)),
    ("attention_bf16", "jax.nn.dot_product_attention(a, a, a)", "bfloat16", (4, 2048, 16, 64)),
    ("sort_1e7", "jnp.sort(a)", "float32", (10**7,)),
    ("fft", "jnp.fft.fft(a)", "float32", (4096, 4096)),
])  # fmt: skip
def test_no_gpu_was_faster(program: str, code: str, dtype: str, shape: tuple[int, ...]) -> None:
    names = {**NAMES, "a": jax.ShapeDtypeStruct(shape, dtype)}
    found = trace_program(Source.plain(code), names, GraphOptions(on=("gpu:h100",)))
    bound = found.estimates[0].seconds
    assert 0.02 < bound / TAKEN[program] < 1
