"""`%trace_cached --engines` on real engines of ipyparallel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.cluster import JobTraces
from tests.cluster.engines import need, press_ctrl_c_when_reached
from tests.cluster.typed import Shells, refused, shown
from tests.shell import Shell

#: A compiled function, and its argument.
COMPILED = """
import jax, jax.numpy as jnp
step, x = jax.jit(lambda x: (x * 2).sum()), jnp.ones((8, 4))
"""


@pytest.fixture
def two(started: Callable[[str], Any]) -> Any:
    """Two engines, each by itself."""
    return started("alone")


@pytest.fixture
def run(two: Any, shell: Shell) -> Shell:
    """A shell that knows two engines, on which jax's ``step`` has no trace yet."""
    need("jax")
    shell.names["rc"] = two
    two[:].execute(COMPILED, block=True)
    return shell


def test_the_engine_that_traces_again_is_named_with_call_argument_and_reason(run: Shell) -> None:
    run.run(
        "%%trace_cached --engines all -v found\nimport sys\n"
        "step(x)\nprint(rank); print('!', file=sys.stderr)\n"
        "step(x[:7] if rank == 1 else x)\nstep(x)\n"
    )
    assert run.text == "[engine 0]\n0\n!\n[engine 1]\n1\n!\n"
    found, text = run.names["found"], shown(run)
    assert isinstance(found, JobTraces)
    assert found.job == ""
    [differing] = found.differing
    assert (differing.number, differing.groups) == (2, (("traced", (1,)), ("cached", (0,))))
    (reason,) = found.profiles[1].calls[differing.key].why
    assert (reason.kind, reason.path) == ("shape", "x")
    name = differing.function
    assert f"engine 1 traced call 2 of {name} engine 0 took it from the cache" in text
    assert f"reason engine 1, call 2 of {name}: x: f32[8,4] → f32[7,4] (shape)" in text
    assert JobTraces.from_dict(found.to_dict()) == found
    states = [(row["rank"], row["line"], row["state"]) for row in found.rows()]
    assert ("engine 1", 5, "TRACED") in states  # lines count as in the cell
    assert ("engine 0", 5, "CACHED") in states


def test_a_line_runs_twice_on_each_engine_or_is_predicted(run: Shell, two: Any) -> None:
    two[1].execute("step(x)", block=True)
    run.run("%trace_cached --engines all --predict step(x)")
    assert "engine 0 would trace call 1 of <lambda> engine 1 would take it from" in shown(run)
    told = r"engine 0 .*, engine 1 \(on .*\) cannot predict: 'len\(x\)' calls no"
    refused(run, "%trace_cached --engines all --predict len(x)", told)
    run.run("%trace_cached --engines all step(x[:3])")
    assert "1 traced, 1 cached in each of 2 engines" in shown(run)
    assert "engine 0,1" in shown(run)
    run.run("%trace_cached --engines 1 step(x[:3])")
    assert "2 cached in engine 1" in shown(run)


def test_an_error_names_the_engine_and_what_was_seen_is_shown(run: Shell, two: Any) -> None:
    code = "step(x)\nif rank: raise ValueError('no data')\nstep(x)"
    told = r"engine 1 \(on .*\) raised ValueError: no data\.$"
    refused(run, f"%%trace_cached --engines all\n{code}", told)
    assert "engine 1 raised ValueError 1 traced, 0 to 1 cached" in shown(run)
    assert "raised engine 1: ValueError: no data" in shown(run)
    # Too many traces are an error when the code has ended.
    code = "step(x[:5])\nif rank: step(x[:2])\nreached = True"
    told = "engine 1 .* raised TooManyTracesError: .* limit 1"
    refused(run, f"%%trace_cached --engines all --max-traces 1\n{code}", told)
    assert two[:].pull("reached", block=True) == [True, True]


def test_ctrl_c_ends_the_code_on_all_engines_and_shows_what_was_seen(
    run: Shell, two: Any, tmp_path: Path
) -> None:
    here = press_ctrl_c_when_reached(tmp_path)
    code = f"import time\nstep(x)\n{here}\ntime.sleep(60)\nslept = 1"
    with pytest.raises(KeyboardInterrupt):
        run.run(f"%%trace_cached --engines all\n{code}")
    assert "1 traced in each of 2 engines" in shown(run)
    slept = two[:].apply_async(lambda: hasattr(__import__("__main__"), "slept"))
    assert slept.get(10) == [False, False]


def test_a_rank_of_a_job_that_retraces_its_own_argument_is_named(shell_of: Shells) -> None:
    shell = shell_of("jax")
    client = shell.names["rc"]
    client[:].execute(f"shared, total = x, compute\n{COMPILED}", block=True)
    cell = "step(x)\ntotal(shared)\nstep(x[:7] if rank == 1 else x)\ntotal(shared)"
    shell.run(f"%%trace_cached --engines all -v found\n{cell}")
    found = shell.names["found"]
    assert found.job == "jax"
    [differing] = found.differing
    assert differing.groups == (("traced", (1,)), ("cached", (0,)))
    assert ": x: f32[8,4] → f32[7,4] (shape)" in shown(shell)
    assert "ranks that need its result wait for it" in shown(shell)
    told = r"rank 1 \(engine 1 on .*\) raised ValueError: no"
    code = "if rank: raise ValueError('no')\nlen(x)"
    refused(shell, f"%%trace_cached --engines all\n{code}", told)
    assert "rank 1 raised ValueError" in shown(shell)
