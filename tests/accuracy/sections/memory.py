"""Whether peaks of memory are what was needed: counted by hand, or by a counter reset by hand."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import ipyjaxbench
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source
from tests.accuracy.section import Column, Row, Section
from tests.async_torch import standin

_WANTED = 0.02
_SIDE, _LARGE = 2000, 4000  # of a matrix; of one in a cell
_CODE = """
def chain(a):
    b = a + 1
    c = b * 2
    del b
    return c.sum(0)

def keep(a):
    return [a * i for i in range(5)]

def widen(a):
    return (a[:, :, None] * a[:1, None, :8]).sum(2)
"""


class Case(NamedTuple):
    """Code, and how many times a matrix of its arrays is in memory at once beside the argument."""

    code: str
    matrices: float
    results: float = 0.0


_CASES = {
    "two at once, then one": Case("chain(x)", 2),
    "all kept": Case("keep(x)", 5, 5),
    "eight times as wide": Case("widen(x)", 9, 1),
}


def _numpy(side: int = _SIDE) -> dict[str, Any]:
    import numpy as np

    return {"x": np.ones((side, side), np.float32)}


def _torch() -> dict[str, Any]:
    import torch

    return {"x": torch.ones(_SIDE, _SIDE)}


def _standin() -> dict[str, Any]:
    import torch

    standin.start()
    return {"x": torch.ones(_SIDE, _SIDE, device=standin.NAME), "torch": torch}


_NAMES = {"numpy": _numpy, "torch": _torch, "standin": _standin}


def _by_counter(call: Callable[[], Any]) -> int:
    """Bytes that an accelerator's own counter rises to, reset before."""
    import torch

    torch.accelerator.synchronize()
    torch.accelerator.reset_peak_memory_stats()
    before = torch.accelerator.memory_allocated()
    value = call()
    torch.accelerator.synchronize()
    del value
    return int(torch.accelerator.max_memory_allocated()) - before


def _jax(rounds: int) -> Iterator[Row]:
    """The compiler's plan of programs whose values in between are known by hand."""
    import jax
    import jax.numpy as jnp

    wide = jnp.ones((_SIDE, 4 * _SIDE))
    programs = {
        "one wide matrix": (jax.jit(lambda a, w: jnp.sin(a @ w) @ w.T), 5, 1),
        "donated": (jax.jit(lambda a, w: jnp.sin(a @ w) @ w.T, donate_argnums=0), 4, 0),
    }
    for _ in range(rounds):
        for name, (f, matrices, results) in programs.items():
            names = {"f": f, "x": jnp.ones((_SIDE, _SIDE)), "w": wide}
            found = ipyjaxbench.measure_code("f(x, w)", names, number=1, repeat=2, memory=True)
            case = Case("f(x, w)", matrices, results)
            yield _row("jax", f"plan: {name}", found.memory[0], case, None)


def _in_cells() -> Iterator[Row]:
    """What a cell's resident memory rises by, on the CPU, under `%%fwdevices`.

    Arrays of less than 32 MiB may get memory that C's library has kept.
    """
    names = _numpy(_LARGE)
    exec(_CODE, names)
    for name, case in _CASES.items():
        found, error = transfer_code(Source.plain(f"y = {case.code}"), names)
        assert error is None
        yield _row("numpy", f"cell: {name}", found.peaks[-1], case, None, 4 * _LARGE**2)
        names.pop("y")


def _calls(group: str, kind: str, names: dict[str, Any]) -> Iterator[Row]:
    """What `%fwtime --memory` says of a call."""
    for name, case in _CASES.items():
        found = ipyjaxbench.measure_code(case.code, names, number=1, repeat=2, memory=True)
        ours = max(found.memory, key=lambda peak: peak.peak or 0)
        run = partial(eval, case.code, names)
        counted = _by_counter(run) if kind == "standin" else None
        yield _row(group, f"{kind}: {name}", ours, case, counted)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each case in each round."""
    if group == "jax":
        yield from _jax(rounds)
        return
    kinds = ["torch", "standin"] if group == "torch" else ["numpy"]
    if group == "torch" and (what := standin.missing()):
        kinds.remove("standin")
        yield {"group": group, "name": "standin", "left_out": f"no {what} to build it with"}
    for kind in kinds:
        names = _NAMES[kind]()
        exec(_CODE, names)
        for _ in range(rounds):
            yield from _calls(group, kind, names)
            if kind == "numpy":
                yield from _in_cells()


def _row(
    group: str, name: str, found: Any, case: Case, counted: int | None, each: int = 4 * _SIDE**2
) -> Row:
    truth = counted or case.matrices * each
    return {
        "group": group,
        "name": name,
        "truth": truth,
        "by": "counter" if counted else "hand",
        "ratio": (found.peak or 0) / truth,
        "results": (found.left or 0) / each,
        "expected": case.results,
    }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    worst = max(rows, key=lambda row: abs(row["ratio"] - 1))
    off = abs(worst["ratio"] - 1)
    met = "reached" if off <= _WANTED else "NOT REACHED"
    yield (
        f"The farthest from the truth is {off:.2%}, {worst['group']}: {worst['name']}."
        f" At most {_WANTED:.0%} wanted: {met}."
    )


MEMORY = Section(
    name="memory",
    title="Is the peak of memory what the code needed?",
    method=(
        "`%fwtime --memory` of functions whose arrays can be counted by hand, `%%fwdevices` of the"
        " same in a cell (resident memory), and for a stand-in of a GPU the allocator's own"
        " peak counter, reset by hand before the same call. One matrix has 15.3 MiB, in a cell"
        " 61.0 MiB."
    ),
    columns=(
        Column("truth, MiB", 10, "bytes needed beyond what was in use before",
               lambda r: f"{r['truth'] / 2**20:.1f}"),
        Column("by", 7, "where that comes from", "{by}"),
        Column("ours", 6, "our figure over it", "{ratio:.3f}"),
        Column("left", 5, "what our report says is left at the end, in matrices", "{results:.2f}"),
        Column("expected", 8, "the same, by hand", "{expected:.2f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("numpy", "torch", "jax"),
)  # fmt: skip
