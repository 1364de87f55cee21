"""Whether `%fwdevices --held` names who holds memory, how much, and how to let go of it."""

import gc
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.accuracy.section import Column, Row, Section, counted

_SIDE = 500
_MATRIX = 4 * _SIDE**2
_OFF = 0.001  # of the bytes: a number that becomes a tensor is one more
_SETUPS = {
    "jax": "import jax.numpy as lib",
    "torch": "import torch, torch._dynamo\nlib = torch",
    "tensorflow": "import tensorflow as lib",
}
_FUNCTIONS = f"""
def matrix():
    return lib.ones(({_SIDE}, {_SIDE}))
def train():
    hidden = matrix()
    raise ValueError("no")
def keep(big):
    return lambda x: x + big
"""


class Case(NamedTuple):
    """A cell after which something holds matrices, and how many."""

    cell: str
    matrices: int = 1


_OF_ALL = {
    "a result": Case("[matrix()]"),
    "a failed cell": Case("train()"),
    "a closure": Case("f = keep(matrix())"),
    "nothing": Case("x = matrix()", 0),
}
_W = f"w = torch.ones({_SIDE}, {_SIDE}, requires_grad=True)\n"
_CASES = {
    "jax": _OF_ALL,
    "tensorflow": _OF_ALL,
    "torch": {
        **_OF_ALL,
        "a graph": Case(f"{_W}loss = (w * 2).exp().sum()"),
        "a gradient": Case(f"{_W}w.sum().backward()"),
        "an optimizer": Case(
            f"{_W}opt = torch.optim.Adam([w]); w.sum().backward(); opt.step(); w.grad = None", 2
        ),
    },
}


def _holders(shell: InteractiveShell) -> Sequence[Any]:
    shell.run_cell("%fwdevices -q --held -v found", store_history=False).raise_error()
    return tuple(shell.user_ns.pop("found").holders)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each case."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = lambda *_, **__: None  # cells fail on purpose
    code = f"%load_ext ipyjaxbench\n{_SETUPS[group]}{_FUNCTIONS}"
    shell.run_cell(code, store_history=False).raise_error()
    for name, case in _CASES[group].items():
        right = let_go = 0
        for _ in range(rounds):
            shell.run_cell("%fwdevices -q --release", store_history=False)
            shell.run_cell(case.cell, store_history=True, silent=False)
            found = _holders(shell)
            held, truth = sum(each.alone for each in found), case.matrices * _MATRIX
            right += len(found) == bool(truth) and abs(held - truth) <= _OFF * truth
            for each in found:
                shell.run_cell(each.let_go, store_history=False)
            gc.collect()
            let_go += not _holders(shell)
        yield {"group": group, "name": name, "bytes": case.matrices * _MATRIX, "right": right,
               "let_go": let_go, "rounds": rounds}  # fmt: skip


def is_right(row: Row) -> bool:
    """Whether what was made to hold memory is found, with its bytes, and comes free."""
    return bool(row["right"] == row["let_go"] == row["rounds"])


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield counted(rows, is_right, "holders are right")


HELD = Section(
    name="held",
    title="Is it so who still holds memory, and how to let go of it?",
    method=(
        "A cell has one thing hold a matrix of 977 KiB, or two. `%fwdevices --held` has to find"
        " that alone, with its bytes within 0.1 %, and what it says to type has to let go of it."
    ),
    columns=(
        Column("bytes", 9, "that are held", "{bytes:,}"),
        Column("found", 6, "how often, alone and with these bytes", "{right}/{rounds}"),
        Column("let go", 7, "how often nothing held it after what is said was typed",
               "{let_go}/{rounds}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax", "torch", "tensorflow"),
)  # fmt: skip
