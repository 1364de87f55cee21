"""`%jaxpr` and `%explain` in a real IPython shell."""

import jax  # changes the environment when it is loaded
import pytest
from IPython.core.error import UsageError

from ipyjaxbench import Diagnosis, Graph
from ipyjaxbench.adapters.jax.graphs.trace_cache import count_traces
from ipyjaxbench.reports.result import MIME
from tests.shell import Shell

START = """
import jax, jax.numpy as jnp, numpy as np
x = jnp.arange(6.0)
def negatives(x):
    return x[x < 3]
def scaled(x, double):
    return x * 2 if double else x
"""


@pytest.fixture
def ready(shell: Shell) -> Shell:
    shell.run(START)
    return shell


def test_a_program_is_shown_once_in_three_forms_or_assigned(ready: Shell) -> None:
    assert ready.run("%jaxpr scaled(x, True)") is None
    (output,) = ready.shown
    assert set(output.data) == {"text/plain", "text/html", MIME}
    assert Graph.from_dict(output.data[MIME]).static_argnames == ("double",)
    ready.run("g = %jaxpr -q x + 1\nn = len(g.jaxpr.eqns)")
    assert ready.names["n"] == 1
    assert ready.shown == []
    ready.run("%%jaxpr -v g\ny = x * 2\nscaled(y, False)")
    assert ", only the lines above it were executed" in str(ready.names["g"])
    assert ready.names["y"].shape == (6,)
    assert ready.names["g"].static_argnames == ("double",)


def test_a_drawing_shows_what_is_in_jitted_functions(ready: Shell) -> None:
    ready.run("inner = jax.jit(lambda a: jnp.sin(a))")
    ready.run("outer = jax.jit(lambda a: (inner(a) * 2, a))\n%jaxpr --mermaid outer(x)")
    _, drawing = ready.shown
    assert [line.strip() for line in drawing.data["text/vnd.mermaid"].splitlines()] == [
        "flowchart TD", 'in0["a f32[6]"]', 'n0["sin f32[6]"]', 'n1["mul f32[6]"]',
        'out["result"]', "in0 --> n0", "n0 --> n1", "n1 --> out", "in0 --> out",
    ]  # fmt: skip


@pytest.mark.skipif(count_traces() is None, reason="this version of JAX does not show its traces")
def test_a_program_says_whether_its_functions_were_traced_before(ready: Shell) -> None:
    ready.run(
        "step = jax.jit(lambda x: x * 3)\nran = step(x)\n@jax.jit\ndef f(x): return step(x) + 1"
    )
    for call, warm, cached in [
        ("step(x)", (), ("<lambda>",)),  # it was called
        ("f(x)", ("f",), ("<lambda>",)),
        ("f(x)", (), ("<lambda>", "f")),
        ("f(x[:1])", ("<lambda>", "f"), ()),
    ]:
        ready.run(f"found = %jaxpr -q {call}")
        found = ready.names["found"]
        assert (found.warm, tuple(sorted(found.cached))) == (warm, cached)
    ready.run("jax.clear_caches()\nfound = %jaxpr -q f(x)")
    assert ready.names["found"].cached == ()


def test_a_trace_that_was_left_by_looking_is_told_by_the_timing_that_misses_it(
    ready: Shell,
) -> None:
    for name in ("step", "other"):
        ready.run(f"@jax.jit\ndef {name}(x):\n    return jnp.tanh(x) * 2")
    ready.run("g = %jaxpr -q step(x)")
    assert ready.names["g"].warm == ("step",)
    # Before JAX 0.6 it is not told which function is compiled.
    names_are_told = jax.__version_info__ >= (0, 6)
    for name, is_told in (("step", names_are_told), ("step", False), ("other", False)):
        ready.run(f"r = %fwtime -q -n 5 -r 3 {name}(x)")
        assert [note.code for note in ready.names["r"].notes].count("looked-at") == is_told
        assert ("trace" in ready.names["r"].phases) is (name == "other")


def test_numpy_code_and_methods_of_computed_arrays_are_traced_alone(ready: Shell) -> None:
    ready.run("h = np.ones((3, 3), 'float32')\ndef n(a): return np.sin(a) @ a")
    ready.run("g = %jaxpr -q --np n(h)")
    assert [each.name for each in ready.names["g"].stats] == ["dot_general", "sin"]
    ready.run("def seen(x):\n    print(type(x).__name__)\n    return x * 2")
    ready.run("g = %jaxpr -q seen(x).sum()")
    assert [each.name for each in ready.names["g"].stats] == ["mul", "reduce_sum"]
    assert "Array" not in ready.names["g"].printed


def test_a_call_is_held_against_another(ready: Shell) -> None:
    ready.run('g = %jaxpr -q --diff "scaled(x, False)" scaled(x, True)')
    lines = ready.names["g"].program.splitlines()
    assert lines[:2] == ["--- scaled(x, False)", "+++ scaled(x, True)"]
    assert any(line.startswith("+") and "mul a 2.0" in line for line in lines)


def test_what_does_not_trace_is_explained_and_stops_the_cell(ready: Shell) -> None:
    with pytest.raises(UsageError, match="NonConcreteBooleanIndexError: Array boolean"):
        ready.run("%jaxpr negatives(x)\nafter = 1")
    assert "after" not in ready.names
    (output,) = ready.shown
    found = Diagnosis.from_dict(output.data[MIME])
    assert (found.source, found.blamed) == ("return x[x < 3]", ("x",))
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError):
        ready.run("%jaxpr --tb negatives(x)")


@pytest.mark.parametrize(
    ("cell", "fix"),
    [
        ("y = jax.jit(negatives)(x)", "return jnp.where(x < 3, x, 0)"),
        ("jax.jit(scaled)(x, True)", "jax.jit(scaled, static_argnames='double')"),
    ],
)
def test_the_last_error_is_explained(cell: str, fix: str, ready: Shell) -> None:
    with pytest.raises(Exception, match=r"indices|trace|Tracer"):
        ready.run(cell)
    ready.run("%explain")
    (output,) = ready.shown
    assert fix in [each.code for each in Diagnosis.from_dict(output.data[MIME]).fixes]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxpr --shapes f33[2] negatives", "--shapes f33[2]: must be dtypes with shapes (f33"),
        ("%jaxpr jnp.sort", "'jnp.sort' is not called. Call it:  jnp.sort(...)"),
        ("%jaxpr jax.jit(scaled)", "'jax.jit(scaled)' is not called. Call it:  jax.jit(scaled)("),
        ("%jaxpr jax.eval_shape(jnp.sin, x)",
         "'jax.eval_shape(jnp.sin, x)' is only the shape of an array and computes nothing: pass"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(cell: str, message: str, ready: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        ready.run(cell)
    assert str(caught.value).startswith(message)


def test_an_interrupt_leaves_nothing_behind(ready: Shell) -> None:
    ready.run("n = 0\ndef stopped(x):\n    global n\n    n += 1\n    raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt, match=r"interrupted while tracing stopped\(x\)"):
        ready.run("%jaxpr stopped(x)")
    assert ready.names["n"] == 0
