"""Compiled programs of JAX held against each other, in a shell and between processes."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.graphs.hlo_text import count_program
from ipyjaxbench.graphs.program_changes import IDENTICAL, compare_hlo, diff_hlo
from tests.shell import Shell

try:  # here, as it changes the environment
    from tensorflow.compiler.xla.service import hlo_pb2
except ImportError:
    hlo_pb2 = None

ROOT = Path(__file__).parents[3]
PROCESS = """
import jax, jax.numpy as jnp
from ipyjaxbench import graph
{before}
def f({name}):
    for _ in range(2):
        {name} = jnp.sin({name} @ {name}) + {name}.sum(axis=0)
    return jax.lax.fori_loop(0, 3, lambda i, a: jnp.tanh(a) * i, {name}).{ends}()
print(graph(f, jnp.ones((64, 64))).text("optimized"))
"""


def process(before: str = "", name: str = "x", ends: str = "sum") -> str:
    """The optimized program that another process makes."""
    code = PROCESS.format(before=before, name=name, ends=ends)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_two_processes_make_one_program_whatever_they_compiled_before() -> None:
    first = process()
    before = "\n\n[jax.jit(g)(2.0) for g in (jnp.sin, jnp.cos, lambda x: x * x)]"
    second = process(before, name="weights")
    assert compare_hlo(first, second) == ()
    assert diff_hlo(first, second, ("a", "b")) == IDENTICAL
    other = process(ends="prod")
    assert compare_hlo(first, other)
    assert diff_hlo(first, other, ("a", "b")).startswith("--- a")


@pytest.mark.skipif(hlo_pb2 is None, reason="TensorFlow has the generated code")
def test_counts_are_those_of_xlas_own_objects() -> None:
    """XLA's protocol buffer, read without its text, as TensorFlow's generated code has it."""

    def f(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 3, lambda i, a: jnp.tanh(a @ a) * i, x).sum()

    compiled = jax.jit(f).lower(jnp.ones((64, 64))).compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    proto = hlo_pb2.HloModuleProto.FromString(module.as_serialized_hlo_module_proto())
    opcodes: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for each in (i for computation in proto.computations for i in computation.instructions):
        opcodes[each.opcode] = opcodes.get(each.opcode, 0) + 1
        if each.opcode == "fusion":
            kind = each.fusion_kind.removeprefix("k").lower()
            kinds[kind] = kinds.get(kind, 0) + 1
    counts = count_program(str(compiled.as_text()))
    assert {name: n for (kind, name), n in counts.items() if kind == "opcode"} == opcodes
    assert {name: n for (kind, name), n in counts.items() if kind == "fusion"} == kinds


def test_what_differs_in_counts_stands_above_the_text(shell: Shell) -> None:
    shell.run("import jax.numpy as jnp\nx = jnp.ones((8, 8))\nf = lambda v: jnp.tanh(jnp.sin(v))")
    shell.run('%jaxpr --stage optimized --diff "jnp.sin(x)" f(x)')
    (output,) = shell.shown
    text = output.data["text/plain"]
    assert "difference in optimized HLO" in text
    assert 0 < text.index("what differs") < text.index("tanh") < text.index("--- jnp.sin(x)")
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert rows["tanh"] == ["0", "1", "+1"]


def test_the_same_program_under_other_names_has_no_difference(shell: Shell) -> None:
    shell.run("import jax.numpy as jnp\nx = jnp.ones((8, 8))\ny = x + 1")
    shell.run('g = %jaxpr -q --stage optimized --diff "jnp.sin(x)" jnp.sin(y)')
    g = shell.names["g"]
    assert (g.program, g.changes) == (IDENTICAL, ())
    assert "what differs" not in str(g)


def test_primitives_of_a_jaxpr_are_counted_too(shell: Shell) -> None:
    shell.run("import jax.numpy as jnp\nx = jnp.ones((8, 8))\nf = lambda v: jnp.sin(jnp.sin(v))")
    shell.run('g = %jaxpr -q --diff "jnp.sin(x)" f(x)')
    (change,) = shell.names["g"].changes
    assert (change.label, change.before, change.now) == ("sin", 1, 2)


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
