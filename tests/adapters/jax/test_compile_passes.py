"""What XLA spends time on in a cold call, in a real shell."""

import jax
import pytest

from ipyjaxbench.adapters.jax import profiler
from ipyjaxbench.timing import Measurement
from tests.shell import Shell

_CELL = """%load_ext ipyjaxbench
import jax, jax.numpy as jnp
@jax.jit
def unrolled(x):
    for i in range(30):
        x = jnp.sin(x * i)
    return x.sum()

x = jnp.ones((16, 16))
"""


def measured(shell: Shell, typed: str) -> Measurement:
    shell.run(_CELL)
    shell.run(f"%fwtime -n 1 -r 2 -v found {typed}")
    found = shell.names["found"]
    assert isinstance(found, Measurement)
    return found


def test_passes_add_up_to_the_time_of_compiling_and_lines_are_the_users(shell: Shell) -> None:
    found = measured(shell, "--passes unrolled(x)")
    assert found.fresh is not None
    (passes,) = found.fresh.passes
    assert passes.framework == "jax"
    assert not passes.reason
    compiling = found.fresh.phases["compile"]
    assert compiling is not None
    assert 0.8 <= passes.seconds / compiling <= 1.2  # within 10 % where nothing else runs
    assert len(passes.passes) > 10
    assert any("Compile" in each.name for each in passes.passes)
    top = passes.lines[0]
    assert top.text == "x = jnp.sin(x * i)"
    assert top.operations / passes.operations > 0.9
    text = shell.shown[0].data["text/plain"]
    assert "jax: passes of compiling, " in text
    assert "x = jnp.sin(x * i)" in text
    assert Measurement.from_dict(found.to_dict()) == found


def test_a_profiler_in_use_is_one_line_and_the_call_is_made(shell: Shell, tmp_path: object) -> None:
    jax.profiler.start_trace(str(tmp_path))
    try:
        found = measured(shell, "--passes unrolled(x)")
    finally:
        jax.profiler.stop_trace()
    assert found.fresh is not None
    assert found.fresh.seconds is not None
    assert "passes" in shell.shown[0].data["text/plain"]
    (passes,) = found.fresh.passes
    assert "in use" in passes.reason or "profil" in passes.reason


def test_without_the_option_or_marks_no_passes_are_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler, "_COMPILING", ("gone",))
    found = measured(shell, "--passes unrolled(x)")
    assert found.fresh is not None
    assert found.fresh.passes[0].reason == "this version does not mark what XLA compiles"
    assert found.fresh.seconds is not None
    monkeypatch.setattr(jax.profiler, "start_trace", lambda *_, **__: 1 / 0)
    found = measured(shell, "--fresh unrolled(x)")
    assert found.fresh is not None
    assert found.fresh.passes == ()
    assert "passes" not in shell.shown[0].data["text/plain"]


def test_an_error_in_the_cold_call_leaves_the_profiler_free(shell: Shell) -> None:
    shell.run(_CELL + "calls = []")
    shell.run("def fails(x):\n    calls.append(1)\n    if len(calls) > 3: raise OSError('no')\n"
              "    return unrolled(x)")  # fmt: skip
    shell.run(
        "%fwtime -n 1 -r 2 --passes fails(x)\n%fwtime -n 1 -r 1 --passes -v found unrolled(x)"
    )
    assert not shell.names["found"].fresh.passes[0].reason
