"""What a graph can still tell after it was shown: stages, memory, what XLA counts and why."""

import os
import re
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench import Graph, OptionError, SnippetError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.reports.blocks import Facts
from ipyjaxbench.usercode.call import Call

X = jnp.ones((64, 64))


def graph(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda c, _: (c @ x, None), x, None, length=1000)[0]


def dead(x: Any) -> Any:
    return (x @ x, x + 1)[1]


def reason_of(found: Graph) -> str:
    """Why XLA counts something else, as the report says it."""
    (rows,) = (block.rows for block in found.report().blocks if isinstance(block, Facts))
    return dict(rows)["compiled"].partition(". ")[2]


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x @ x, ""),
        (scanned, ("The program has 524 MFLOP: 524 MFLOP in later iterations (XLA counts a"
         " loop's body once).")),
        (dead, "The program has 528 kFLOP: 524 kFLOP in unused results, which XLA removes."),
        (jnp.sort, "The program has 0 FLOP, not counting sort."),
        (lambda x: jax.lax.fori_loop(0, 10, lambda _, c: c * 2, x[0, 0]), ""),
        (lambda x: jax.lax.map(lambda row: row @ x, x),
         ("The program has 524 kFLOP: 516 kFLOP in later iterations (XLA counts a loop's"
          " body once).")),
    ],
)  # fmt: skip
def test_where_xla_counts_otherwise_the_reason_is_told(function: Any, why: str) -> None:
    found = graph(function, X, stats=True)
    assert reason_of(found) == why
    assert Graph.from_dict(found.to_dict()).compiled == found.compiled


def test_memory_is_what_goes_in_and_out_and_lies_between() -> None:
    found = graph(lambda x: x @ x, X)
    assert found.compiled is None
    assert found.memory == 2 * 64 * 64 * 4
    assert found.bytes == 2 * 64 * 64 * 4


def test_every_stage_can_be_had_afterwards_and_whole() -> None:
    def deep(x: Any) -> Any:
        for _ in range(300):
            x = jnp.tanh(x)
        return x

    found = graph(deep, X)
    assert found.program.count("tanh") < 100
    assert found.text().count("tanh") == 300
    assert found.text("stablehlo").count("stablehlo.tanh") == 300
    assert "HloModule" in found.text("optimized")
    with pytest.raises(OptionError, match="stage 'aten': JAX has jaxpr, stablehlo"):
        found.text("aten")


def test_a_record_holds_one_stage_alone() -> None:
    read = Graph.from_dict(graph(jnp.sin, X, stats=True).to_dict())
    assert "sin" in read.text()
    assert read.compiled is not None
    assert read.memory == read.compiled.memory
    assert read.graph is None
    with pytest.raises(SnippetError, match="a saved record holds only the stage 'jaxpr':"):
        read.text("hlo")


def test_checks_can_be_had_without_asking_for_them_before() -> None:
    assert [note.code for note in graph(lambda x: x * 2, 1.0).checks] == ["weak-output"]


def test_tables_are_shown_when_they_are_asked_for() -> None:
    short = graph(jnp.sin, X)
    assert "by primitive" not in str(short)
    assert "by line" not in str(short)
    both = str(graph(dead, X, stats=True, src=True))
    assert "by primitive\n  primitive" in both
    assert "return (x @ x, x + 1)[1]" in both.partition("by line")[2]
    assert "add, dot_general" in both or "dot_general, add" in both


def test_of_branches_only_the_one_that_is_counted_has_a_cost_in_the_tables() -> None:
    found = graph(lambda x: jax.lax.cond(x.sum() > 0, lambda c: c @ c, lambda c: c + c, x), X)
    assert sum(each.flops for each in found.stats) == found.flops
    assert {each.name: each.flops for each in found.stats}["add"] == 0


def test_a_text_that_is_long_though_its_equations_are_few_is_folded() -> None:
    found = graph(jnp.linalg.inv, X)
    assert found.operations < 100
    assert len(found.program.splitlines()) < 120 < len(found.text().splitlines())


def test_numpy_is_replaced_in_a_copy() -> None:
    def helper(a: Any) -> Any:
        return np.sin(a)

    def outer(a: Any) -> Any:
        return helper(a) @ np.ones((64, 64))

    found = graph(outer, np.ones((64, 64)), numpy=True)
    assert {"sin", "dot_general"} <= {each.name for each in found.stats}
    assert outer(np.ones((64, 64))).dtype == np.float64


def test_work_is_shared_among_devices_and_what_they_exchange_is_told() -> None:
    code = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.graphs.options import GraphOptions
mesh = jax.sharding.Mesh(jax.devices(), ("d",))
x = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P(None, "d")))
w = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P("d", None)))
call = Call.from_function(lambda x, w: x @ w, x, w)
found = trace_call(call, GraphOptions(stats=True, check=True))
print(found.compiled.collectives)
print("Per device, of 4." in " ".join(str(found).split()))
print([note.code for note in found.notes])
kept = trace_call(Call.from_function(lambda x: x + 1, x), GraphOptions(check=True))
print([note.code for note in kept.notes])
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    exchanged, why, codes, kept = done.stdout.splitlines()
    assert exchanged == "(Collective(name='all-reduce', times=1, nbytes=16384),)"
    assert why == "True"
    assert codes == "['resharded']"
    assert kept == "[]"


def halved(x: Any) -> Any:
    return jnp.where(x > 0, x, x / 2)


def quartered(x: Any) -> Any:
    return jnp.where(x > 0, x, x / 4)


def test_lines_are_those_of_the_users_code_that_call_and_not_of_the_first_that_called() -> None:
    for function in (halved, quartered):
        (line,) = graph(function, X).lines
        assert line.line == function.__code__.co_firstlineno + 1
        assert {"select_n", "jit", "div", "gt"} >= {*line.parts} >= {"select_n", "div"}


def test_code_of_a_library_is_at_the_line_that_calls_it() -> None:
    optax = pytest.importorskip("optax")
    rule = optax.adam(1e-3)

    def updated(w: Any) -> Any:
        state = rule.init(w)
        return rule.update(w, state, w)

    first = updated.__code__.co_firstlineno
    assert [each.line - first for each in graph(updated, X).lines] == [1, 2]


def test_what_no_line_of_the_user_calls_has_none() -> None:
    assert graph(jnp.sort, X).lines == ()


def test_a_difference_without_a_known_reason_is_called_so() -> None:
    found = graph(lambda key: jax.random.normal(key, (64, 64)), jax.random.key(0), stats=True)
    words = r"The program has 24.6 kFLOP; XLA adds \S+ kFLOP, for unknown reasons\."
    assert re.fullmatch(words, reason_of(found))


def test_of_a_solver_what_runs_is_counted_and_what_is_not_is_named() -> None:
    found = graph(jnp.linalg.solve, X, X, stats=True)
    assert found.flops < 64**3
    assert "not counting lu, triangular_solve" in reason_of(found)


def test_a_multiplication_of_complex_numbers_is_several_operations_for_us_and_one_for_xla() -> None:
    found = graph(lambda x: x @ x, X.astype(complex), stats=True)
    assert found.flops == 8 * 64**3
    assert reason_of(found).endswith(
        "in complex arithmetic (XLA counts a complex operation as one)."
    )


def test_what_computes_shapes_alone_captures_nothing() -> None:
    found = graph(lambda x: x * jax.eval_shape(lambda v: v @ v, x).shape[0], X)
    assert found.constants == ()
    with pytest.raises(SnippetError, match="is only the shape of an array and computes nothing"):
        graph(lambda x: jax.eval_shape(lambda v: v @ v, x), X)


def test_a_captured_array_is_no_value_in_between() -> None:
    big = jnp.ones((64, 64))
    text = " ".join(str(graph(lambda x: x @ big, X, stats=True)).split())
    assert "for captured arrays and temporaries" in text
    assert "captured arrays and" not in str(graph(lambda x: jnp.sort(x @ x) @ x, X, stats=True))
