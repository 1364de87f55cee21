"""What TPUs would make of a program, as their own compiler estimates it on any machine."""

import base64
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from ipyjaxbench.errors import MissingLibraryError, OptionError
from ipyjaxbench.frameworks.jax.tracing import Traced
from ipyjaxbench.graph_parts import Estimate

_GIB = 2**30
#: Generation -> the smallest topology that the compiler takes, and the bytes of memory that one
#: device has: a chip, and one of two cores of v2 and v3 (Cloud TPU system architecture).
CHIPS = {
    "v2": ("v2:2x2", 8 * _GIB),
    "v3": ("v3:2x2", 16 * _GIB),
    "v4": ("v4:2x2x1", 32 * _GIB),
    "v5e": ("v5e:1x1", 16 * _GIB),
    "v5p": ("v5p:2x2x1", 95 * _GIB),
    "v6e": ("v6e:1x1", 32 * _GIB),
}
_SECONDS = 600
_TOO_LARGE = re.compile(r"RESOURCE_EXHAUSTED|[Rr]an out of memory")
_USED = re.compile(r"(?:Used |\()([\d.]+)([KMGT])\)? (?:of|exceeds)")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def estimates(traced: Traced, chips: Sequence[str]) -> tuple[Estimate, ...]:
    """What the compiler of each chip says of a program; nothing is computed anywhere.

    Args:
        traced: the program.
        chips: such as "tpu:v5e".

    Raises:
        OptionError: a chip is not known.
        MissingLibraryError: libtpu is not installed.
    """
    generations = [chip.removeprefix("tpu:") for chip in chips]
    unknown = [chip for chip, name in zip(chips, generations, strict=True) if name not in CHIPS]
    if unknown:
        known = ", ".join(f"tpu:{name}" for name in CHIPS)
        raise OptionError(f"--on {unknown[0]}: it is one of {known}")
    if importlib.util.find_spec("libtpu") is None:
        raise MissingLibraryError("libtpu", "tpu")
    asked = {
        "program": base64.b64encode(_exported(traced)).decode(),
        "topologies": [CHIPS[name][0] for name in generations],
    }
    told = [json.loads(line) for line in _answered(json.dumps(asked)) if line.startswith("{")]
    found = [_estimate(name, one) for name, one in zip(generations, told, strict=False)]
    if len(found) < len(chips):
        raise OptionError(f"--on {chips[len(found)]}: its compiler ended without an answer")
    return tuple(found)


def _exported(traced: Traced) -> bytes:
    """The program for TPUs, of its arrays alone: trees would have to be known on the other side."""
    from jax import export

    wrapper, args, kwargs = traced.call
    leaves, tree = jax.tree.flatten((tuple(args), dict(kwargs)))

    def flat(*arrays: Any) -> Any:
        positional, named = jax.tree.unflatten(tree, arrays)
        return jax.tree.leaves(wrapper(*positional, **named))

    return bytes(export.export(jax.jit(flat), platforms=["tpu"])(*leaves).serialize())


def _answered(asked: str) -> Iterator[str]:
    command = [sys.executable, "-m", "ipyjaxbench.frameworks.jax.chip_worker"]
    done = subprocess.run(
        command, input=asked, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    yield from done.stdout.splitlines()


def _estimate(name: str, told: dict[str, Any]) -> Estimate:
    limit = CHIPS[name][1]
    error = told.get("error", "")
    if error:
        used = _USED.search(error)
        needed = int(float(used[1]) * _UNITS[used[2]]) if used else 0
        words = "" if _TOO_LARGE.search(error) else error.splitlines()[0]
        return Estimate(f"tpu:{name}", None, None, None, needed, limit, words)
    return Estimate(
        f"tpu:{name}",
        told["seconds"],
        told["flops"],
        told["moved"],
        int(told["memory"]),
        limit,
    )
