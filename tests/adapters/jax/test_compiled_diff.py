"""Compiled programs of JAX held against each other, in a shell and between processes."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.graphs.program_changes import IDENTICAL, compare_hlo, diff_hlo
from tests.shell import Shell

ROOT = Path(__file__).parents[3]
PROGRAM = """
import jax, jax.numpy as jnp
from ipyjaxbench import graph
def f({name}):
    for _ in range(2):
        {name} = jnp.sin({name} @ {name}) + {name}.sum(axis=0)
    return jax.lax.fori_loop(0, 3, lambda i, a: jnp.tanh(a) * i, {name}).{ends}()
text = graph(f, jnp.ones((64, 64))).text("optimized")
"""


def optimized(name: str = "x", ends: str = "sum") -> str:
    names: dict[str, str] = {}
    exec(PROGRAM.format(name=name, ends=ends), names)
    return names["text"]


def test_another_process_makes_the_same_program_whatever_was_compiled_before() -> None:
    [jax.jit(g)(2.0) for g in (jnp.sin, jnp.cos, lambda x: x * x)]
    first, other = optimized("weights"), optimized(ends="prod")
    code = PROGRAM.format(name="x", ends="sum") + "print(text)"
    second = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert compare_hlo(first, second) == ()
    assert diff_hlo(first, second, ("a", "b")) == IDENTICAL
    assert compare_hlo(first, other)
    assert diff_hlo(first, other, ("a", "b")).startswith("--- a")


def test_what_differs_in_counts_stands_above_the_text(shell: Shell) -> None:
    shell.run("import jax.numpy as jnp\nx = jnp.ones((8, 8))\nf = lambda v: jnp.tanh(jnp.sin(v))")
    shell.run('%jaxpr --stage optimized --diff "jnp.sin(x)" f(x)')
    (output,) = shell.shown
    text = output.data["text/plain"]
    assert "difference in optimized HLO" in text
    assert 0 < text.index("what differs") < text.index("tanh") < text.index("--- jnp.sin(x)")
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert rows["tanh"] == ["0", "1", "+1"]


@pytest.fixture
def history(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell with a history of its own, in which a run of `step` was kept as "before"."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    shell.run("import jax, jax.numpy as jnp\nx = jnp.ones((32, 32))")
    shell.run("step = jax.jit(lambda v: jnp.sin(v @ v).sum())")
    shell.run("%fwtime -q -n 2 -r 2 --name before step(x)")
    return shell


def forget(shell: Shell) -> None:
    """Leave the history alone, as for another kernel."""
    session = shell.shell.magics_manager.registry["FrameworkMagics"].session
    session.measurements.clear()
    session.programs.clear()


@pytest.mark.parametrize("in_session", [True, False])
def test_a_program_is_held_against_the_one_that_was_kept(history: Shell, in_session: bool) -> None:
    if not in_session:
        forget(history)
    history.run("step = jax.jit(lambda other: jnp.sin(other @ other).sum())")
    history.run("r = %fwtime -q -n 2 -r 2 --against before step(x)")
    (program,) = history.names["r"].against.programs
    assert (program.name, program.changes, program.diff) == ("step", (), "")
    assert program.instructions > 5
    report = " ".join(str(history.names["r"]).split())
    assert f"step: the same compiled program, {program.instructions} instructions" in report
    assert "what differs" not in report


@pytest.mark.parametrize("in_session", [True, False])
def test_what_differs_in_a_program_is_shown_counts_first(history: Shell, in_session: bool) -> None:
    if not in_session:
        forget(history)
    history.run("step = jax.jit(lambda v: jnp.tanh(jnp.sin(v @ v)).sum())")
    history.run("r = %fwtime -q -n 2 -r 2 --against before step(x)")
    r = history.names["r"]
    (program,) = r.against.programs
    assert {c.label: (c.before, c.now) for c in program.changes}["tanh"] == (0, 1)
    text = str(r)
    assert "step compiles to another program" in text
    assert text.index("step: what differs") < text.index("--- before")
    assert type(r).from_dict(r.to_dict()) == r


def test_a_run_that_kept_no_program_is_said_to(history: Shell) -> None:
    history.run("%fwtime -q -n 2 -r 2 x + 7\n%fwtime -q -n 2 -r 2 step(x)")
    history.run("r = %fwtime -q -n 2 -r 2 --against last step(x)")
    why = "that run kept no compiled program; runs with --name or --against do"
    assert history.names["r"].against.programs_unknown == why
    history.run("r = %fwtime -q -n 2 -r 2 --against last x + 7")
    assert history.names["r"].against.programs_unknown == ""  # it calls no compiled function
    assert "program" not in str(history.names["r"])


def test_nothing_is_kept_where_that_was_not_asked_for(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    shell.run("import jax, jax.numpy as jnp\nx = jnp.ones((32, 32))\nf = jax.jit(jnp.sin)")
    shell.run("%fwtime -q -n 2 -r 2 f(x)")
    assert not (tmp_path / "ipyjaxbench" / "programs").exists()


def test_a_text_that_was_removed_is_said_to_be(history: Shell, tmp_path: Path) -> None:
    for file in (tmp_path / "ipyjaxbench" / "programs").iterdir():
        file.unlink()
    history.run("r = %fwtime -q -n 2 -r 2 --against before step(x)")
    r = history.names["r"]
    assert r.against.programs == ()
    assert "what that run kept has been removed" in r.against.programs_unknown
