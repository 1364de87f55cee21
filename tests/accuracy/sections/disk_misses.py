"""Whether the reason is right for which a compilation cache on disk had no program."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests.accuracy.section import Column, Row, Section, names_of

_JAX = """
import jax, jax.numpy as jnp, numpy as np
kept = jnp.arange({kept}, 50 + {kept}, dtype="float32")
@jax.jit
def f(x): return jnp.{function}(x @ x).sum() + kept.sum()
x = jnp.ones(({size}, {size}))
"""
_TORCH = """
import torch
@torch.compile(dynamic=False)
def f(x): return x @ (x {sign} x)
x = torch.ones({size}, {size})
"""
_LOOK = """
import ipyjaxbench
{before}
seen = ipyjaxbench.measure_code("f(x)", globals(), number=1, repeat=1)
for program in seen.programs:
    if program.disk_miss is not None:
        print("MISS", program.disk_miss.words())
"""
_USUAL = {"kept": "0", "function": "sin", "size": "20", "sign": "@", "before": ""}
_FLAG, _SECONDS = "--xla_cpu_enable_fast_min_max", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
_TUNING = "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING"


def _remove(folder: Path) -> None:
    for path in folder.glob("jit_f-*"):
        path.unlink()


def _break(folder: Path) -> None:
    for path in folder.glob("jit_f-*-cache"):
        path.write_bytes(b"no program")


class Case(NamedTuple):
    """What is other than in the session that filled the cache, and what is to be said."""

    said: str
    code: Mapping[str, str] = MappingProxyType({})
    environment: Mapping[str, str] = MappingProxyType({})
    damage: Callable[[Path], None] | None = None


_CASES = {
    "jax": {
        "nothing": Case(""),
        "an XLA flag": Case(f"({_FLAG}=true is new)", {}, {"XLA_FLAGS": f"{_FLAG}=true"}),
        "the code": Case("the program's code differs", {"function": "cos"}),
        "a captured array": Case("the program's captured arrays differ", {"kept": "1"}),
        "the shape": Case("no entry for these argument types", {"size": "30"}),
        "too fast": Case("not cached: below 60 s", {"function": "tan"}, {_SECONDS: "60"}),
        "the entry is gone": Case("is gone from the cache folder", damage=_remove),
        "the entry is broken": Case("is there, but could not be read", damage=_break),
    },
    "torch": {
        "nothing": Case(""),
        "a setting": Case(
            "(epilogue_fusion=False is new)",
            {"before": "torch._inductor.config.epilogue_fusion = False"},
        ),
        "the environment": Case(f"({_TUNING}=1 is new)", {}, {_TUNING: "1"}),
        "the code": Case("the program's code differs", {"sign": "+"}),
    },
}


def _reasons(group: str, folder: Path, case: Case) -> list[str]:
    """What a session of its own says."""
    code = ({"jax": _JAX, "torch": _TORCH}[group] + _LOOK).format(**_USUAL | {**case.code})
    cache = {"JAX_COMPILATION_CACHE_DIR": str(folder), "TORCHINDUCTOR_CACHE_DIR": str(folder),
             _SECONDS: "0"}  # fmt: skip
    environment = {**os.environ, **cache, **case.environment}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    return [line.removeprefix("MISS ") for line in lines if line.startswith("MISS ")]


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each case."""
    for name, case in _CASES[group].items():
        right = 0
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                _reasons(group, folder, Case(""))
                if group == "torch":  # it learns of an entry when that is found
                    _reasons(group, folder, Case(""))
                if case.damage is not None:
                    case.damage(folder)
                told = _reasons(group, folder, case)
                right += [case.said in each for each in told] == [True] * bool(case.said)
        yield {"group": group, "name": name, "said": case.said or "silent", "right": right,
               "rounds": rounds}  # fmt: skip


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    wrong = [row for row in rows if row["right"] < row["rounds"]]
    right, asked = (sum(row[each] for row in rows) for each in ("right", "rounds"))
    yield f"{right} of {asked} reasons are what was changed; wrong: {names_of(wrong)}."


DISK_MISSES = Section(
    name="misses",
    title="Is it so why a compilation cache on disk had no program?",
    method=(
        "A session fills a cache folder. In another one a single thing is changed by hand, and"
        " `%fwtime` has to name it, and nothing else; where nothing is changed it has to be"
        " silent."
    ),
    columns=(
        Column("to be said", 50, "in the only reason", "{said}"),
        Column("right", 6, "how often it was", "{right}/{rounds}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("jax", "torch"),
)
