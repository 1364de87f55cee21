"""What is asked of a compiler for another chip, in the process that asks it."""

import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.chips import compile_remote, estimate, worker
from ipyjaxbench.adapters.jax.chips.find_chips import find_chips
from tests.adapters.jax.test_chips import TOLD

HLO = """
HloModule jit_f

%fused (p: f32[8]) -> f32[8] {
  %c = f32[8] custom-call(%p), custom_call_target="Fused"
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %a = f32[8] custom-call(%x), custom_call_target="Cholesky"
  %b = f32[8] fusion(%a), kind=kLoop, calls=%fused
  %d = f32[8] custom-call(%b), custom_call_target="ConcatBitcast"
  %e = f32[8] custom-call(%d), custom_call_target="Cholesky"
  ROOT %f = f32[8] custom-call(%e), custom_call_target="AlsoUnknown"
}
"""


@pytest.mark.parametrize(
    ("told", "seconds", "unknown"),
    [(None, None, []), (0.0, 0.0, []), (0.999, 0.999, []), (1.0, 1.0, ["AlsoUnknown", "Cholesky"]),
     (-0.75, 0.25, ["AlsoUnknown", "Cholesky"]), (-1.75, 0.25, ["AlsoUnknown", "Cholesky"]),
     (-2.0, None, ["AlsoUnknown", "Cholesky"])],
)  # fmt: skip
def test_what_cannot_be_estimated_is_left_out_of_the_time_and_named(
    told: float | None, seconds: float | None, unknown: list[str]
) -> None:
    assert worker._time(told, HLO) == (seconds, unknown)


def test_of_what_compilers_answer_bytes_and_calls_are_read() -> None:
    assert [*worker._unknown(HLO)] == ["Cholesky", "Cholesky", "AlsoUnknown"]
    x = jnp.ones((3, 5), "int16")
    assert worker._nbytes(x, x.sharding) == 30
    assert worker._nbytes(jax.ShapeDtypeStruct((2,), "float32"), x.sharding) == 8

    def padding(held: int, real: int) -> int:
        told = TOLD | {"held": held, "real": real}
        return estimate._estimate(find_chips("tpu:v5e"), told).padding

    assert (padding(4096, 100), padding(100, 4096)) == (3996, 0)


def test_a_request_that_fails_costs_its_own_answer_alone() -> None:
    asked = json.dumps([{"program": "AAAA"}, {"nothing": 1}])
    done = subprocess.run(
        compile_remote._WORKER, input=asked, capture_output=True, text=True, check=True,
        timeout=300, env=compile_remote._environment(),
    )  # fmt: skip
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["error"]
    assert second == {"error": "KeyError: 'program'"}
    assert sys.executable == compile_remote._WORKER[0]
