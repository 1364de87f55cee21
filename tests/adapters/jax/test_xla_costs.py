"""What a graph can tell after it was shown: its stages, and what XLA counts otherwise, and why."""

import functools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from ipyjaxbench import Graph, OptionError
from ipyjaxbench.adapters.jax.graphs import tally
from ipyjaxbench.adapters.jax.graphs.library_calls import library_calls, spell_library
from ipyjaxbench.adapters.jax.graphs.stages import LiveProgram
from ipyjaxbench.adapters.jax.graphs.xla_costs import counted_flops, difference, memory_needed
from ipyjaxbench.graphs import CountDifference, LibraryCalls
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.reports.blocks import Facts
from ipyjaxbench.usercode.call import Call
from tests.shell import Shell

X = jnp.ones((64, 64))


def graph(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


def reason_of(found: Graph) -> str:
    """Why XLA counts something else, as the report says it."""
    (rows,) = (block.rows for block in found.report().blocks if isinstance(block, Facts))
    return dict(rows)["compiled"].partition(". ")[2]


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x @ x, ""),
        (lambda x: (x @ x, x + 1)[1],
         "The program has 528 kFLOP: 524 kFLOP in unused results, which XLA removes."),
        (lambda x: jax.lax.fori_loop(0, 10, lambda _, c: c * 2, x[0, 0]), ""),
    ],
)  # fmt: skip
def test_where_xla_counts_otherwise_the_reason_is_told(function: Any, why: str) -> None:
    found = graph(function, X, stats=True)
    assert reason_of(found) == why
    assert Graph.from_dict(found.to_dict()).compiled == found.compiled


def test_every_stage_can_be_had_afterwards_and_whole() -> None:
    found = graph(lambda x: functools.reduce(lambda y, _: jnp.tanh(y), range(300), x), X)
    assert found.program.count("tanh") < 100
    assert found.text().count("tanh") == found.text("stablehlo").count("stablehlo.tanh") == 300
    assert "HloModule" in found.text("optimized")
    with pytest.raises(OptionError, match="stage 'aten': JAX has jaxpr, stablehlo"):
        found.text("aten")


def halved(x: Any) -> Any:
    return jnp.where(x > 0, x, x / 2)


def quartered(x: Any) -> Any:
    return jnp.where(x > 0, x, x / 4)


def test_lines_are_those_of_the_users_code_that_call_also_into_libraries() -> None:
    for function in (halved, quartered):
        (line,) = graph(function, X).lines
        assert line.line == function.__code__.co_firstlineno + 1
        assert {"select_n", "jit", "div", "gt"} >= {*line.parts} >= {"select_n", "div"}
    assert graph(jnp.sort, X).lines == ()


def test_differences_of_complex_numbers_have_a_reason_and_others_none() -> None:
    found = graph(lambda key: jax.random.normal(key, (64, 64)), jax.random.key(0), stats=True)
    words = r"The program has 24.6 kFLOP; XLA adds \S+ kFLOP, for unknown reasons\."
    assert re.fullmatch(words, reason_of(found))
    found = graph(lambda x: x @ x, X.astype(complex), stats=True)
    assert found.flops == 8 * 64**3
    assert reason_of(found).endswith(
        "in complex arithmetic (XLA counts a complex operation as one)."
    )


def test_what_is_captured_is_no_value_in_between() -> None:
    found = graph(lambda x: x * jax.eval_shape(lambda v: v @ v, x).shape[0], X)
    assert found.constants == ()


# Differences between two counts

SMALL = jnp.ones((8, 8))
PRODUCT = 2.0 * 8**3


def sums(n: int) -> Any:
    return jax.make_jaxpr(lambda x: x + 1)(jnp.ones(n))


def test_counts_are_unknown_where_xla_has_none_and_memory_counts_once() -> None:
    for cost, flops in (
        ({"flops": -1.0}, None), ({"transcendentals": 0.0}, 0.0),
        ({"flops": 3.0, "transcendentals": 4.0}, 7.0),
        ({"flops": -1.0, "transcendentals": 4.0}, 4.0),
    ):  # fmt: skip
        assert counted_flops(cost) == flops
    memory = SimpleNamespace(
        temp_size_in_bytes=1, argument_size_in_bytes=20, output_size_in_bytes=300,
        alias_size_in_bytes=20,
    )  # fmt: skip
    assert memory_needed(memory) == 301


@pytest.mark.parametrize(
    ("n", "theirs", "is_other"),
    [(1, 100, False), (1, 101, True),  # 99 more are a loop's own counter
     (200, 101, False), (200, 100, True),
     (10_000, 10_526, False), (10_000, 10_527, True),  # 5 % of the larger one
     (10_000, 9_500, False), (10_000, 9_499, True)],
)  # fmt: skip
def test_only_a_difference_of_more_than_5_percent_and_99_flop_is_one(
    n: int, theirs: int, is_other: bool
) -> None:
    found = difference(sums(n), float(theirs), 1)
    assert found == (CountDifference(float(n), left=float(theirs - n)) if is_other else None)


def test_of_two_devices_xla_counts_what_one_computes() -> None:
    assert difference(sums(2000), 1000.0, 2) == CountDifference(None, 2)
    assert difference(sums(2000), 2000.0, 2) == CountDifference(2000.0, 2)


def wasteful(x: Any) -> Any:
    y = lax.scan(lambda c, _: (c @ c, None), x, None, 3)[0]
    return (x @ x, y + (SMALL + SMALL).sum())[1]


def test_reasons_are_the_fewest_that_make_up_the_difference() -> None:
    closed = jax.make_jaxpr(wasteful)(SMALL)
    ours = 4 * PRODUCT + 64 + 64 + 64  # the sum of constants, their own sum, and that with y
    reasons = {"turns": 2 * PRODUCT, "unused": PRODUCT, "constant": 128.0}

    def reasons_for(*names: str) -> Any:
        left = ours - sum(reasons[name] for name in names)
        told = difference(closed, left, 1)
        assert told is None or (told.ours, told.left) == (ours, left - ours)
        return told and dict(told.reasons)

    assert reasons_for() is None
    assert reasons_for("turns") == {"turns": 2 * PRODUCT}
    assert reasons_for("unused") == {"unused": PRODUCT}
    assert reasons_for("turns", "unused") == {"turns": 2 * PRODUCT, "unused": PRODUCT}
    assert reasons_for("turns", "unused", "constant") == reasons


def test_what_xla_leaves_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = jax.make_jaxpr(lambda x: jnp.sort(lax.cumsum(x)))(jnp.ones(1000))
    found = difference(closed, 5000.0, 1)
    assert found == CountDifference(1000.0, left=4000.0, uncounted=("sort",), rewritten=("cumsum",))
    closed = jax.make_jaxpr(lambda x: jnp.tanh(x @ x))(SMALL)
    found = difference(closed, 64.0, 1, ("cublas matmul",))
    assert found is not None
    assert (found.left, found.libraries) == (-PRODUCT, ("cublas matmul",))
    more = difference(closed, 3 * PRODUCT, 1, ("cublas matmul",))
    assert more is not None
    assert more.libraries == ()
    monkeypatch.setattr(tally, "_MAX_STEPS", 1)
    found = difference(jax.make_jaxpr(wasteful)(SMALL), 1.0, 1)
    assert found is not None
    assert found.reasons == ()


# Calls of libraries: of an H100, as it was recorded, and of this machine

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


def test_they_stand_above_the_optimized_text_and_once_where_the_counts_differ(
    monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
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
    shell.names.update(step=jax.jit(lambda x: jnp.tanh(x @ x)), x=jnp.ones((SIDE, SIDE)))
    shell.run("%jaxpr --stage optimized step(x)")
    text = shell.shown[-1].data["text/plain"]
    assert "library calls  1 cublas matmul, 17.2 GFLOP" in text
    assert text.index("library calls") < text.index("HloModule") < text.index("compiled")
    shell.run("g = %jaxpr -q --stats step(x)")
    g = shell.names["g"]
    text = " ".join(str(g).split())
    assert "XLA does not count 17.2 GFLOP in library calls (cublas matmul)." in text
    assert "1 cublas matmul" not in text
    assert g.compiled.libraries == FOUND
    assert type(g).from_dict(g.to_dict()).compiled == g.compiled
