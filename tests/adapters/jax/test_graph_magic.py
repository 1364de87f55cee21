"""`%jaxpr` and `%explain` in a real IPython shell."""

import sys

import jax  # changes the environment when it is loaded
import pytest
from IPython.core.error import UsageError

from ipyjaxbench import Diagnosis, Graph
from ipyjaxbench.adapters.jax.graphs.trace_cache import count_traces
from ipyjaxbench.jupyter.errors import TraceFailedError
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
    assert ready.names["y"].shape == (6,)
    assert ready.names["g"].static_argnames == ("double",)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_shapes_alone_will_do(ready: Shell, quote: str) -> None:
    ready.run(f"g = %jaxpr -q --shapes {quote}f32[8,4], bf16[4]{quote} jnp.dot")
    assert [(v.name, v.dtype, v.shape) for v in ready.names["g"].inputs] == [
        ("a", "float32", (8, 4)), ("b", "bfloat16", (4,)),
    ]  # fmt: skip


def test_a_drawing_of_jitted_functions_follows_the_report_and_shows_what_is_in_them(
    ready: Shell,
) -> None:
    ready.run("inner = jax.jit(lambda a: jnp.sin(a))")
    ready.run("outer = jax.jit(lambda a: (inner(inner(a)) * 2, a))")
    ready.run("%jaxpr --mermaid outer(x)")
    report, drawing = ready.shown
    assert MIME in report.data
    assert set(drawing.data) == {"text/vnd.mermaid", "text/plain"}
    assert [line.strip() for line in drawing.data["text/vnd.mermaid"].splitlines()] == [
        "flowchart TD", 'in0["a f32[6]"]', 'n0["sin f32[6]"]', 'n1["sin f32[6]"]',
        'n2["mul f32[6]"]', 'out["result"]', "in0 --> n0", "n0 --> n1", "n1 --> n2", "n2 --> out",
        "in0 --> out",
    ]  # fmt: skip


def test_a_check_that_finds_nothing_names_what_it_looked_for(ready: Shell) -> None:
    ready.run("%jaxpr --check x * 2\n%jaxpr --check (lambda a: a * 1)(2.0)\n%jaxpr x * 2")
    clear, found, unasked = (" ".join(output.data["text/plain"].split()) for output in ready.shown)
    assert (
        "check no problems found; looked for large captured arrays, unrolled loops, dtype" in clear
    )
    assert "weakly typed" in found
    assert "no problems found" not in found
    assert "check " not in unasked


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
    assert ready.names["np"].__name__ == "numpy"
    ready.run("def seen(x):\n    print(type(x).__name__)\n    return x * 2")
    ready.run("g = %jaxpr -q seen(x).sum()")
    assert [each.name for each in ready.names["g"].stats] == ["mul", "reduce_sum"]
    assert "Tracer" in ready.names["g"].printed
    assert "Array" not in ready.names["g"].printed


def test_calls_are_held_against_others_and_against_themselves_before_an_edit(ready: Shell) -> None:
    ready.run('g = %jaxpr -q --diff "scaled(x, False)" scaled(x, True)')
    lines = ready.names["g"].program.splitlines()
    assert lines[:2] == ["--- scaled(x, False)", "+++ scaled(x, True)"]
    assert any(line.startswith("+") and "mul a 2.0" in line for line in lines)
    ready.run('g = %jaxpr -q --grad --diff "(lambda v: v.sum())(x)" (lambda v: v.sum())(x)')
    assert ready.names["g"].program == "the programs are identical"
    ready.run("g = %jaxpr -q --stage stablehlo x + 177")
    with pytest.raises(UsageError, match=r"there is no earlier program of .* with these options"):
        ready.run("%jaxpr --diff last x + 177")
    ready.run(
        "%jaxpr -q scaled(x, True)\ndef scaled(x, double):\n    return x * 3 if double else x"
    )
    ready.run("g = %jaxpr -q --diff last scaled(x, True)")
    removed, added = ready.names["g"].program.splitlines()[-2:]
    assert removed.startswith("-{ lambda ; a:f32[6]. let b:f32[6] = mul a 2.0")
    assert added.startswith("+{ lambda ; a:f32[6]. let b:f32[6] = mul a 3.0")


def test_what_does_not_trace_is_explained_and_stops_the_cell(ready: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        ready.run("%jaxpr negatives(x)\nafter = 1")
    error = "NonConcreteBooleanIndexError: Array boolean indices must be concrete; got"
    assert str(caught.value).startswith(error)
    assert "bool[6]" in str(caught.value)  # JAX 0.4 calls it ShapedArray(bool[6])
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
        ("%jaxpr negatives(x)", "return jnp.where(x < 3, x, 0)"),
    ],
)
def test_the_last_error_is_explained(cell: str, fix: str, ready: Shell) -> None:
    with pytest.raises(Exception, match=r"indices|trace|Tracer"):
        ready.run(cell)
    for mistyped in ("%explain x", "%explan", "%fwtime --nope"):  # it is not forgotten
        with pytest.raises(UsageError):
            ready.run(mistyped)
    ready.run("%explain")
    (output,) = ready.shown
    assert fix in [each.code for each in Diagnosis.from_dict(output.data[MIME]).fixes]


def test_explaining_twice_or_what_was_not_traced_runs_nothing(shell: Shell) -> None:
    shell.run("log = []")
    with pytest.raises(ZeroDivisionError):
        shell.run("log.append(1) or 1 / 0")
    for _ in range(3):
        with pytest.raises(UsageError, match="did not come from tracing"):
            shell.run("%explain")
    assert shell.names["log"] == [1]


SHAPE = "jax.ShapeDtypeStruct((3,), jnp.float32)"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxpr --diff last x * 77", "--diff last: there is no earlier program of 'x * 77'"),
        ("%jaxpr --shapes f32 negatives", "--shapes f32: must be dtypes with shapes, for"),
        ("%jaxpr --shapes f33[2] negatives", "--shapes f33[2]: must be dtypes with shapes (f33"),
        ("%jaxpr --shapes f32[2] x", "--shapes needs a function, and 'x' is not one"),
        ("%jaxpr --dynamo --export x + 1", "--dynamo and --export cannot be combined"),
        ("%jaxpr y = 3", "the code must end with an expression"),
        ("%jaxpr --stage foo x", "stage 'foo': must be one of jaxpr, stablehlo, hlo, optimized"),
        ("%jaxpr --depht 3 x", "unknown option --depht. Did you mean --depth?"),
        ("%%jaxpr f(x)\nx", "'f(x)' is not an option. Write the code in the lines below."),
        ("l = [1.0]\nl.append(l)\n%jaxpr scaled(x, l)", "double contains itself, or is nested"),
        ("%jaxpr jnp.sort", "'jnp.sort' is not called. Call it:  jnp.sort(...)"),
        ("%jaxpr lambda v: v", "'lambda v: v' is not called. Call it:  (lambda v: v)(...)"),
        ("%jaxpr jax.jit(scaled)", "'jax.jit(scaled)' is not called. Call it:  jax.jit(scaled)("),
        ("class C: pass\n%jaxpr C", "'C' is not called. Call it:  C(...)"),
        (f"%jaxpr {SHAPE}", f"'{SHAPE}' is only the shape of an array and computes"),
        (f"%jaxpr --stats {SHAPE}", f"'{SHAPE}' is only the shape of an array and computes"),
        ("%jaxpr jax.eval_shape(jnp.sin, x)",
         "'jax.eval_shape(jnp.sin, x)' is only the shape of an array and computes nothing: pass"),
        ("%explain x", "'x': %explain takes no code"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(cell: str, message: str, ready: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        ready.run(cell)
    assert str(caught.value).startswith(message)


def test_a_property_is_traced_and_not_asked_for_its_value(
    ready: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    ready.run("""
class Half:
    @property
    def value(self):
        print("asked")
        return jnp.sin(x) / 2
half = Half()
g = %jaxpr -q half.value
""")
    assert ready.names["g"].printed == "asked\n"
    assert "asked" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("code", "fix"),
    [("x[x > 0]", "jnp.where(x > 0, x, 0)"), ("x[x > 0].sum() + 1", "x.sum(where=x > 0) + 1"),
     ("np.sin(np.ones(3))", "jax.numpy.sin"), ("short(x)", "jnp.where(x > 0, x, 0)")],
)  # fmt: skip
def test_what_to_write_for_an_expression_is_an_expression(
    code: str, fix: str, ready: Shell
) -> None:
    ready.run("short = lambda x: x[x > 0]")
    with pytest.raises(TraceFailedError):
        ready.run(f"%jaxpr {code}")
    (output,) = ready.shown
    assert [each.code for each in Diagnosis.from_dict(output.data[MIME]).fixes] == [fix]


def test_trials_warn_of_nothing_and_an_interrupt_leaves_nothing(
    ready: Shell, recwarn: pytest.WarningsRecorder
) -> None:
    ready.run("n = 0\ndef stopped(x):\n    global n\n    n += 1\n    raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt, match=r"interrupted while tracing stopped\(x\)"):
        ready.run("%jaxpr stopped(x)")
    assert ready.names["n"] == 0
    ready.run(
        "def warns(x, n):\n    part = x[:n]\n"
        "    return part * float(np.log(np.array([-1.0]))[0])\n"
        "g = %jaxpr -q warns(x, 3)"
    )
    assert ready.names["g"].static_argnames == ("n",)
    assert not [each for each in recwarn if each.category is RuntimeWarning]


def test_a_magic_of_another_framework_refuses_what_is_jaxs(ready: Shell) -> None:
    is_loaded = "torch" in sys.modules  # by another test
    why = "it has no torch" if is_loaded else "torch is not imported"
    with pytest.raises(UsageError, match=f"'x \\+ 1' has no program: {why}"):
        ready.run("%fxgraph x + 1")
