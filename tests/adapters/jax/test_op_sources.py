"""Which of the user's lines an operation of a compiled program comes from."""

from pathlib import Path

import jax
import jax.numpy as jnp

from ipyjaxbench.adapters.jax.op_sources import lines_in


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


def test_older_texts_name_the_line_at_each_operation() -> None:
    text = (
        '%y = f32[8] add(%x, %x), metadata={op_name="a" source_file="/home/me/a.py" source_line=3}'
    )
    assert lines_in(text)["y"] == ("/home/me/a.py", 3, "")


def test_a_text_without_lines_has_none() -> None:
    assert lines_in("%y = f32[8] add(%x, %x)") == {}
    assert lines_in('%y = f32[8] add(%x, %x), metadata={op_name="a" stack_frame_id=9}') == {
        "y": None
    }
