"""Whether compiled programs are counted as XLA's own objects have it, and twins are the same."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from ipyjaxbench.adapters.shared.hlo import readable
from ipyjaxbench.graphs.hlo_text import count_program
from ipyjaxbench.graphs.program_changes import IDENTICAL, compare_counts, diff_hlo
from tests.accuracy.section import Column, Row, Section, names_of

_BASE = "jnp.sin(x @ x).sum()"
#: Programs that are held against the one above.
_CODES = {
    "product": _BASE,
    "softmax": "jax.nn.softmax(x @ x, axis=-1)",
    "loop": "jax.lax.fori_loop(0, 5, lambda i, a: jnp.tanh(a @ x) * i, x)",
    "gradient": "jax.grad(lambda v: (jnp.tanh(v @ x) ** 2).sum())(x)",
    "scan": "jax.lax.scan(lambda c, a: (jnp.sin(c + a), c.sum()), x[0], x)",
    "sort": "jnp.sort(x, axis=0)[::-1].cumsum(0)",
    "solve": "jnp.linalg.cholesky(x @ x.T + 99 * jnp.eye(64))",
}
_PROCESS = """
import sys, jax, jax.numpy as jnp
from tests.accuracy.sections.programs import program
if {other}:
    [jax.jit(g)(jnp.ones(3)) for g in (jnp.sin, lambda v: v * v, jnp.cumsum)]
sys.stdout.write(program({code!r}, {name!r})[0])
"""


def program(code: str, name: str = "x") -> tuple[str, bytes]:
    """The optimized program of an expression, as our text and as XLA's protocol buffer."""
    import jax
    import jax.numpy as jnp

    f = eval(f"lambda {name}: {code.replace('x', name) if name != 'x' else code}",
             {"jax": jax, "jnp": jnp})  # fmt: skip
    compiled = jax.jit(f).lower(jnp.ones((64, 64))).compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    return readable(str(compiled.as_text())), module.as_serialized_hlo_module_proto()


def _counts(data: bytes) -> dict[tuple[str, str], int]:
    """Opcodes and fusions of a program, by XLA's own objects and never by its text."""
    from tensorflow.compiler.xla.service import hlo_pb2

    found: Counter[tuple[str, str]] = Counter()
    for computation in hlo_pb2.HloModuleProto.FromString(data).computations:
        for each in computation.instructions:
            found["opcode", each.opcode] += 1
            if each.opcode == "fusion":
                found["fusion", each.fusion_kind.removeprefix("k").lower()] += 1
    return dict(found)


def _elsewhere(code: str, *, other: bool) -> str:
    """The program that a process of its own makes; ``other`` compiles other things before."""
    source = _PROCESS.format(other=other, code=code, name="x")
    command = [sys.executable, "-c", source]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each program."""
    base = program(_BASE)
    for name, code in _CODES.items():
        text, data = program(code)
        own, theirs = (
            compare_counts(_only(count_program(base[0])), _only(count_program(text))),
            compare_counts(_counts(base[1]), _counts(data)),
        )
        twins = [_elsewhere(code, other=bool(turn % 2)) for turn in range(max(rounds, 2))]
        alike = sum(diff_hlo(text, twin, ("a", "b")).startswith(IDENTICAL) for twin in twins)
        yield {
            "group": group, "name": name, "instructions": sum(
                n for (kind, _), n in _counts(data).items() if kind == "opcode"
            ),
            "differ": len(theirs), "right": len({*own} & {*theirs}),
            "wrong": len({*own} ^ {*theirs}), "twins": len(twins), "alike": alike,
        }  # fmt: skip


def _only(counts: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return {key: n for key, n in counts.items() if key[0] in ("opcode", "fusion")}


def is_right(row: Row) -> bool:
    """Whether all that differs is found, nothing else, and every twin is the same."""
    return not row["wrong"] and row["alike"] == row["twins"]


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    wrong = [row for row in rows if not is_right(row)]
    found, all_of = sum(row["right"] for row in rows), sum(row["differ"] for row in rows)
    alike, twins = sum(row["alike"] for row in rows), sum(row["twins"] for row in rows)
    yield f"{found} of {all_of} counts that differ are found, as many as XLA's own objects have."
    yield f"{alike} of {twins} twins are called identical; wrong: {names_of(wrong)}."


PROGRAMS = Section(
    name="programs",
    title="Is it so what a comparison of compiled programs says?",
    method=(
        "Each program is held against that of `jnp.sin(x @ x).sum()`. Opcodes and fusions that"
        " differ are also counted in XLA's protocol buffers, which are read without the text. Its"
        " twins are made by other processes, every second one after it compiled other programs:"
        " these must be called identical."
    ),
    columns=(
        Column("instructions", 12, "of the program", "{instructions}"),
        Column("differ", 6, "counts, by XLA's own objects", "{differ}"),
        Column("found", 5, "of them, with both numbers", "{right}"),
        Column("wrong", 5, "missed, or found and not so", "{wrong}"),
        Column("twins", 5, "in other processes", "{twins}"),
        Column("identical", 9, "of them", "{alike}"),
        Column("verdict", 8, "whether all is right", lambda r: "ok" if is_right(r) else "WRONG"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax",),
)
