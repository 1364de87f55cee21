"""What stands in a program, and where in the user's code it comes from."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import export, lax
from jax.extend import source_info_util

from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.adapters.jax.op_sources import lines_in
from ipyjaxbench.graphs.components import Value

X = jnp.ones(3)


def jaxpr_of(function: Any, *args: Any) -> Any:
    return jax.make_jaxpr(function)(*args).jaxpr


def doubled(x: Any) -> Any:
    return x * 2


def test_an_equation_has_the_file_and_line_of_the_users_code_or_none() -> None:
    (equation,) = jaxpr_of(doubled, X).eqns
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

    (equation,) = (e for e in jaxpr_of(summed, X).eqns if e.primitive.name == "reduce")
    assert [*program.programs_in(equation)] == []
    assert len([*program.jaxprs_in(equation)]) == 1


def test_values_are_told_by_shape_dtype_and_bytes() -> None:
    class State:
        """A type of a library's, which has no shape."""

        def __str__(self) -> str:
            return "State()"

    shaped, known_later = jax.ShapeDtypeStruct, export.symbolic_shape("n, 3")
    avals = [shaped((2, 3), "int8"), shaped((0,), "float32"), shaped(known_later, "float32"),
             shaped((), "float32", weak_type=True), State()]  # fmt: skip
    assert program.values_of(avals, ("a", "b")) == (
        Value("a", "int8", (2, 3), 6),
        Value("b", "float32", (0,), 0),
        Value("", "float32", (-1, 3), 0),
        Value("", "float32", (), 4, weak=True),
        Value("", "State", None, 0, sized=False),
    )


def compiled_lines(code: str, path: Path) -> dict[str, tuple[str, int, str]]:
    """The lines of ``f(x)``, which stands in a file of the user's, by what its program says."""
    path.write_text(code)
    names: dict[str, object] = {}
    exec(compile(code, str(path), "exec"), names)
    f: object = names["f"]
    hlo = jax.jit(f).lower(jnp.ones((8, 8))).compile().as_text()  # type: ignore[arg-type]
    found = {name: line for name, line in lines_in(hlo).items() if line is not None}
    return {name: (Path(line.file).name, line.line, line.function) for name, line in found.items()}


def test_operations_lead_to_the_lines_that_made_them(tmp_path: Path) -> None:
    code = "import jax.numpy as jnp\ndef f(x):\n    y = x @ x\n    return jnp.sin(y)\n"
    lines = compiled_lines(code, tmp_path / "users.py")
    assert {(file, line, function) for file, line, function in lines.values()} == {
        ("users.py", 3, "f"),
        ("users.py", 4, "f"),
    }


def test_what_a_library_computes_belongs_to_the_line_that_calls_it(tmp_path: Path) -> None:
    code = (
        "import jax\ndef f(x):\n    return inner(x)\ndef inner(x):\n    return jax.nn.softmax(x)\n"
    )
    lines = compiled_lines(code, tmp_path / "users.py")
    assert lines
    assert set(lines.values()) == {("users.py", 5, "inner")}


def test_texts_of_older_versions_and_those_without_lines_are_read() -> None:
    text = (
        '%y = f32[8] add(%x, %x), metadata={op_name="a" source_file="/home/me/a.py" source_line=3}'
    )
    assert lines_in(text)["y"] == ("/home/me/a.py", 3, "")
    assert lines_in("%y = f32[8] add(%x, %x)") == {}
    assert lines_in('%y = f32[8] add(%x, %x), metadata={op_name="a" stack_frame_id=9}') == {
        "y": None
    }
