"""What stands in a program, how its text is folded, and where in the user's code it comes from."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export, lax
from jax.extend import source_info_util

from ipyjaxbench.adapters.jax.graphs import program, tracer
from ipyjaxbench.adapters.jax.graphs.listing import text_of
from ipyjaxbench.adapters.jax.graphs.stages import LiveProgram
from ipyjaxbench.adapters.jax.op_sources import lines_in
from ipyjaxbench.graphs.components import Value

X = jnp.ones(3)


def doubled(x: Any) -> Any:
    return x * 2


def test_an_equation_has_the_file_and_line_of_the_users_code_or_none() -> None:
    (equation,) = jax.make_jaxpr(doubled)(X).eqns
    here = __file__, doubled.__code__.co_firstlineno + 1
    assert program.nearest_of(equation.source_info) == here
    assert program.place_of(equation.source_info) == here
    info = source_info_util.new_source_info()
    assert program.nearest_of(info) == ("", 0)
    assert program.place_of(info) == ("", 0)


def test_only_functions_that_the_user_jitted_are_named_each_once() -> None:
    assert "/jax/" in Path(__file__).as_posix()  # the user's folders may have this name

    @jax.jit
    def within(x: Any) -> Any:
        return jnp.where(x > 0, x, 0)

    @jax.jit
    def around(x: Any) -> Any:
        return within(x) + within(x) + jnp.clip(x, 0, 1)

    closed = jax.make_jaxpr(lambda x: around(x) + jnp.where(x > 0, x, 1))(X)
    found = program.jitted_by_user(closed)
    assert set(found) == {"around", "within"}
    assert found["within"].startswith("within at ")


def test_captured_arrays_are_told_once_and_combinations_are_no_programs() -> None:
    small, large = jnp.ones(2), jnp.ones((4, 4))
    again = jax.jit(lambda x: x + small[0])
    closed = jax.make_jaxpr(lambda x: again(x + small.sum()) + large.sum())(X)
    assert [value.nbytes for value in program.constants_of(closed)] == [64, 8]

    def summed(x: Any) -> Any:
        return lax.reduce(x, 0.0, lambda a, b: a * 2 + b, (0,))

    equations = jax.make_jaxpr(summed)(X).eqns
    (equation,) = (e for e in equations if e.primitive.name == "reduce")
    assert [*program.programs_in(equation)] == []
    assert len([*program.jaxprs_in(equation)]) == 1


def test_values_are_told_by_shape_dtype_and_bytes() -> None:
    state = type("State", (), {"__str__": lambda _: "State()"})()  # of a library, without a shape
    shaped, known_later = jax.ShapeDtypeStruct, export.symbolic_shape("n, 3")
    avals = [shaped((2, 3), "int8"), shaped((0,), "float32"), shaped(known_later, "float32"),
             shaped((), "float32", weak_type=True), state]  # fmt: skip
    assert program.values_of(avals, ("a", "b")) == (
        Value("a", "int8", (2, 3), 6),
        Value("b", "float32", (0,), 0),
        Value("", "float32", (-1, 3), 0),
        Value("", "float32", (), 4, weak=True),
        Value("", "State", None, 0, sized=False),
    )


def test_operations_lead_to_the_lines_that_made_them_or_called_a_library(tmp_path: Path) -> None:
    code = (
        "import jax\ndef f(x):\n    return inner(x @ x)\n"
        "def inner(x):\n    return jax.nn.softmax(x)\n"
    )
    path = tmp_path / "users.py"
    path.write_text(code)
    names: dict[str, Any] = {}
    exec(compile(code, str(path), "exec"), names)
    hlo = jax.jit(names["f"]).lower(jnp.ones((8, 8))).compile().as_text()
    found = {line for line in lines_in(hlo).values() if line is not None}
    assert found == {(str(path), 3, "f"), (str(path), 5, "inner")}


def test_texts_of_older_versions_and_those_without_lines_are_read() -> None:
    text = (
        '%y = f32[8] add(%x, %x), metadata={op_name="a" source_file="/home/me/a.py" source_line=3}'
    )
    assert lines_in(text)["y"] == ("/home/me/a.py", 3, "")
    assert lines_in("%y = f32[8] add(%x, %x)") == {}
    assert lines_in('%y = f32[8] add(%x, %x), metadata={op_name="a" stack_frame_id=9}') == {
        "y": None
    }


TEN = jnp.ones(10)


def lines(function: Any, *args: Any, depth: int = 0) -> list[str]:
    """The equations, without what stands around them."""
    text = text_of(jax.make_jaxpr(function)(*args), depth)
    return [line.strip() for line in text.splitlines() if " = " in line]


def sines(turns: int) -> Any:
    def function(x: Any) -> Any:
        for _ in range(turns):
            x = jnp.sin(x)
        return x

    return function


inner = jax.jit(lax.cos)
middle = jax.jit(lambda x: inner(lax.tan(x)))
outer = jax.jit(lambda x: middle(lax.sin(x)))


@pytest.mark.parametrize(
    ("depth", "names"),
    [(0, {"jit"}), (1, {"jit", "sin"}), (2, {"jit", "sin", "tan"}),
     (3, {"jit", "sin", "tan", "cos"})],
)  # fmt: skip
def test_so_many_levels_of_inner_programs_are_shown(depth: int, names: set[str]) -> None:
    shown = lines(outer, TEN, depth=depth)
    called = {line.partition(" = ")[2].partition("[")[0].split()[0] for line in shown}
    assert {name.replace("pjit", "jit") for name in called} == names
    hidden = [line for line in shown if "equation" in line]
    # The calls of the inner functions count as equations of their own.
    counts = [f"(... {count} equations)" for count in (5, 3, 1)][depth : depth + 1]
    assert [line[line.index("(...") :].rpartition(" ")[0] for line in hidden] == counts


def test_inner_programs_are_indented_and_results_that_nothing_uses_have_no_name() -> None:
    text = text_of(jax.make_jaxpr(outer)(TEN), 2).splitlines()
    pads = {line.split(" = ")[1].split()[0]: len(line) - len(line.lstrip()) for line in text
            if " = " in line and "[" not in line.split(" = ")[1]}  # fmt: skip
    assert pads == {"sin": 8, "tan": 12}
    (line,) = lines(lambda x: lax.top_k(x, 2)[1], TEN)
    assert line.startswith("_:f32[2] b:i32[2] = top_k[")


def test_names_are_those_that_jax_gives() -> None:
    def function(x: Any) -> Any:
        y, _ = lax.fori_loop(0, 3, lambda i, v: (v[0] + i, v[1] * 2.5), (x, x))
        return y - 1, lax.top_k(y, 2)[0]

    closed = jax.make_jaxpr(function)(TEN)
    names = re.compile(r"\b([a-z_]+):[a-z]+\d*\[")
    of_jax = [*names.findall(text_of(closed, None))]
    assert [*names.findall(text_of(closed, 9))] == of_jax
    assert of_jax.count("_") == 3


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lax.cumsum, "b:f32[10] = cumsum[axis=0] a"),
        (lambda x: x * 2, "b:f32[10] = mul a 2.0"),
        (lambda x: lax.integer_pow(x, 3), "b:f32[10] = integer_pow[y=3] a"),
        (jax.jit(sines(1)), "b:f32[10] = jit[function] (... 1 equations) a"),
        (lambda x: x.sum(), "b:f32[] = reduce_sum[axes=(0,)] a"),
        (lambda x: lax.fori_loop(0, 3, lambda _, v: v + 1, x),
         "_:i32[] b:f32[10] = scan (... 2 equations) 0 a"),
    ],
)  # fmt: skip
def test_an_equation_shows_its_name_and_plain_parameters(function: Any, shown: str) -> None:
    assert lines(function, TEN)[-1].replace("pjit", "jit") == shown


@pytest.mark.parametrize(
    ("shape", "is_shown"), [((10, *[1] * 12), True), ((10, 10, *[1] * 11), False)]
)
def test_a_parameter_is_shown_up_to_40_characters(shape: tuple[int, ...], is_shown: bool) -> None:
    assert len(str(shape)) == (40 if is_shown else 41)
    (line,) = lines(lambda x: lax.reshape(x, shape), jnp.ones(shape[0] * shape[1]))
    assert (f"new_sizes={shape}" in line) is is_shown


def test_of_many_equations_the_first_40_and_the_last_10_are_shown() -> None:
    assert len(lines(sines(50), TEN)) == 50
    assert len(lines(sines(51), TEN)) == 50
    text = text_of(jax.make_jaxpr(sines(51))(TEN), 0).splitlines()
    assert text[41].strip() == "... 1 more equations (.text() has all) ..."
    assert text[42].strip() == "aq:f32[10] = sin ap"


@pytest.mark.parametrize(
    ("equations", "counted", "is_whole"),
    [(100, 100, True), (101, 101, False), (118, 100, True), (119, 100, False)],
)
def test_up_to_100_equations_and_120_lines_are_shown_as_jax_prints_them(
    equations: int, counted: int, is_whole: bool
) -> None:
    # A line before, a line after.
    traced: Any = SimpleNamespace(closed=jax.make_jaxpr(sines(equations))(TEN))
    live = LiveProgram(traced)
    assert ("more equations" not in tracer._jaxpr_text(live, counted, 1)) is is_whole
    assert "more equations" not in tracer._jaxpr_text(live, counted, None)
