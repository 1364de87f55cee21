"""`%trace_cached --engines` on real engines of ipyparallel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench.cluster import JobTraces
from tests.cluster.engines import engines, need, press_ctrl_c_when_reached
from tests.shell import Shell

#: By framework: a compiled function, and its argument.
COMPILED = {
    "jax": """
import jax, jax.numpy as jnp
step, x = jax.jit(lambda x: (x * 2).sum()), jnp.ones((8, 4))
""",
    "torch": """
import torch
def step(x):
    return (x * 2).sum()
step, x = torch.compile(step, backend="eager", dynamic=False), torch.ones(8, 4)
""",
    "tensorflow": """
import tensorflow
step, x = tensorflow.function(lambda x: tensorflow.reduce_sum(x * 2)), tensorflow.ones((8, 4))
""",
}


@pytest.fixture
def two(started: Callable[[str], Any]) -> Any:
    """Two engines, each by itself."""
    return started("alone")


@pytest.fixture
def run(two: Any, shell: Shell) -> Shell:
    """A shell that knows two engines, on which jax's ``step`` has no trace yet."""
    need("jax")
    shell.names["rc"] = two
    two[:].execute(COMPILED["jax"], block=True)
    return shell


def shown(shell: Shell) -> str:
    """The report, each run of blanks as one."""
    (output,) = shell.shown
    return " ".join(output.data["text/plain"].split())


@pytest.mark.parametrize("framework", COMPILED)
def test_the_engine_that_traces_again_is_named_with_call_argument_and_reason(
    framework: str, two: Any, shell: Shell
) -> None:
    need(framework)
    shell.names["rc"] = two
    two[:].execute(COMPILED[framework], block=True)
    shell.run("""%%trace_cached --engines all -v found
step(x)
step(x)
step(x[:7] if rank == 1 else x)
step(x)
""")
    found = shell.names["found"]
    assert isinstance(found, JobTraces)
    assert found.job == ""
    [differing] = found.differing
    assert (differing.number, differing.groups) == (3, (("traced", (1,)), ("cached", (0,))))
    (reason,) = found.profiles[1].calls[differing.key].why
    assert (reason.kind, reason.path) == ("shape", "x")
    text = shown(shell)
    name = differing.function
    assert f"engine 1 traced call 3 of {name} engine 0 took it from the cache" in text
    assert f"reason engine 1, call 3 of {name}: x: f32[8,4] → f32[7,4] (shape)" in text
    assert JobTraces.from_dict(found.to_dict()) == found
    states = [(row["rank"], row["line"], row["state"]) for row in found.rows()]
    assert ("engine 1", 4, "TRACED") in states  # lines count as in the cell
    assert ("engine 0", 4, "CACHED") in states


def test_a_line_runs_twice_on_each_engine(run: Shell) -> None:
    run.run("%trace_cached --engines all step(x)")
    text = shown(run)
    assert "1 traced, 1 cached in each of 2 engines" in text
    assert "engine 0,1" in text
    run.run("%trace_cached --engines 1 step(x)")
    assert "2 cached in engine 1" in shown(run)


def test_what_a_call_would_be_is_predicted_on_each_engine(run: Shell, two: Any) -> None:
    two[1].execute("step(x)", block=True)
    run.run("%trace_cached --engines all --predict step(x)")
    assert "engine 0 would trace call 1 of <lambda> engine 1 would take it from" in shown(run)
    with pytest.raises(UsageError, match=r"engine 1 \(on .*\) cannot predict: 'len\(x\)' calls no"):
        run.run("%trace_cached --engines all --predict len(x)")


def test_what_engines_print_is_shown_once_with_their_names(run: Shell) -> None:
    run.run("%%trace_cached --engines all\nimport sys\nprint('to all')\nstep(x)")
    assert run.text == "[engine 0,1]\nto all\n"
    run.run("%%trace_cached -q --engines all\nprint(rank); print('!', file=sys.stderr)")
    assert run.text == "[engine 0]\n0\n!\n[engine 1]\n1\n!\n"


def test_code_without_calls_of_compiled_functions_is_told_in_one_line(run: Shell) -> None:
    run.run("%%trace_cached --engines all\nlen(x)")
    assert shown(run) == "len(x) no compiled function was called in each of 2 engines 1 host"


def test_an_error_names_the_engine_and_what_was_seen_is_shown(run: Shell) -> None:
    with pytest.raises(UsageError, match=r"^engine 1 \(on .*\) raised ValueError: no data\.$"):
        run.run(
            "%%trace_cached --engines all\nstep(x)\nif rank: raise ValueError('no data')\nstep(x)"
        )
    text = shown(run)
    assert "engine 1 raised ValueError 1 traced, 0 to 1 cached" in text
    assert "raised engine 1: ValueError: no data" in text
    run.run("%trace_cached --engines all step(x)")
    assert "2 cached in each of 2 engines" in shown(run)


def test_too_many_traces_are_an_error_when_the_code_has_ended(run: Shell, two: Any) -> None:
    with pytest.raises(UsageError, match=r"engine 1 .* raised TooManyTracesError: .* limit 1"):
        run.run(
            "%%trace_cached --engines all --max-traces 1\n"
            "step(x)\nif rank: step(x[:2])\nreached = True"
        )
    assert two[:].pull("reached", block=True) == [True, True]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--signatures step", "--signatures works in one process alone, without --engines"),
        ("--watch on", "--watch works in one process alone, without --engines"),
        ("step(", "SyntaxError in line 1"),
        ("step(nix)", r"raised NameError: name 'nix' is not defined"),
        ("", "nothing to run"),
    ],
)
def test_what_makes_no_sense_is_one_line(run: Shell, typed: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        run.run(f"%trace_cached --engines all {typed}")


def test_ctrl_c_ends_the_code_on_all_engines_and_shows_what_was_seen(
    run: Shell, two: Any, tmp_path: Path
) -> None:
    here = press_ctrl_c_when_reached(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run.run(
            f"%%trace_cached --engines all\nimport time\nstep(x)\n{here}\ntime.sleep(60)\nlate = 1"
        )
    assert "1 traced in each of 2 engines" in shown(run)
    late = two[:].apply_async(lambda: "late" in globals())
    assert late.get(10) == [False, False]


def test_a_rank_of_a_job_that_retraces_its_own_argument_is_named(shell: Shell) -> None:
    need("jax")
    with engines("jax") as client:
        shell.names["rc"] = client
        client[:].execute(COMPILED["jax"], block=True)
        client[:].execute(
            """
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
rows = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d"))
whole = np.ones((4, 4), np.float32)
shared = jax.make_array_from_callback(whole.shape, rows, whole.__getitem__)
total = jax.jit(lambda shared: shared.sum())
""",
            block=True,
        )
        cell = "step(x)\ntotal(shared)\nstep(x[:7] if rank == 1 else x)\ntotal(shared)"
        shell.run(f"%%trace_cached --engines all -v found\n{cell}")
        found = shell.names["found"]
        text = shown(shell)
        with pytest.raises(UsageError, match=r"^rank 1 \(engine 1 on .*\) raised ValueError: no"):
            shell.run(
                "%%trace_cached --engines all\nif rank: raise ValueError('no')\ntotal(shared)"
            )
        failed = shown(shell)
    assert found.job == "jax"
    [differing] = found.differing
    assert differing.groups == (("traced", (1,)), ("cached", (0,)))
    assert ": x: f32[8,4] → f32[7,4] (shape)" in text
    assert "ranks that need its result wait for it" in text
    assert "rank 1 raised ValueError" in failed
    # The other one waited for it in a collective, which can be ended at some moments only.
    assert "interrupted rank 0" in failed or "no answer rank 0 is still in its call" in failed
