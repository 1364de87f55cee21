"""`%trace_cached --engines` on real engines of ipyparallel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench.cluster import JobTraces
from tests.cluster.engines import need, press_ctrl_c_when_reached
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


def shown(shell: Shell) -> str:
    """The report, each run of blanks as one."""
    (output,) = shell.shown
    return " ".join(output.data["text/plain"].split())


def test_the_engine_that_traces_again_is_named_with_call_argument_and_reason(run: Shell) -> None:
    run.run(
        "%%trace_cached --engines all -v found\n"
        "step(x)\nstep(x)\nstep(x[:7] if rank == 1 else x)\nstep(x)\n"
    )
    found = run.names["found"]
    assert isinstance(found, JobTraces)
    assert found.job == ""
    [differing] = found.differing
    assert (differing.number, differing.groups) == (3, (("traced", (1,)), ("cached", (0,))))
    (reason,) = found.profiles[1].calls[differing.key].why
    assert (reason.kind, reason.path) == ("shape", "x")
    text = shown(run)
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
    run.run("%%trace_cached --engines all\nimport sys\nprint(rank); print('!', file=sys.stderr)")
    assert run.text == "[engine 0]\n0\n!\n[engine 1]\n1\n!\n"


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
            f"%%trace_cached --engines all\nimport time\nstep(x)\n{here}\ntime.sleep(60)\nslept = 1"
        )
    assert "1 traced in each of 2 engines" in shown(run)
    slept = two[:].apply_async(lambda: hasattr(__import__("__main__"), "slept"))
    assert slept.get(10) == [False, False]


def test_a_rank_of_a_job_that_retraces_its_own_argument_is_named(
    shell_of: Callable[[str], Shell],
) -> None:
    shell = shell_of("jax")
    client = shell.names["rc"]
    client[:].execute(f"shared, total = x, compute\n{COMPILED}", block=True)
    cell = "step(x)\ntotal(shared)\nstep(x[:7] if rank == 1 else x)\ntotal(shared)"
    shell.run(f"%%trace_cached --engines all -v found\n{cell}")
    found, text = shell.names["found"], shown(shell)
    with pytest.raises(UsageError, match=r"^rank 1 \(engine 1 on .*\) raised ValueError: no"):
        shell.run("%%trace_cached --engines all\nif rank: raise ValueError('no')\nlen(x)")
    assert found.job == "jax"
    [differing] = found.differing
    assert differing.groups == (("traced", (1,)), ("cached", (0,)))
    assert ": x: f32[8,4] → f32[7,4] (shape)" in text
    assert "ranks that need its result wait for it" in text
    assert "rank 1 raised ValueError" in shown(shell)
