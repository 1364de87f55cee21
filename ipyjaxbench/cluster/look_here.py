"""Where the values of one process live: what an engine is asked, in plain data."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ipyjaxbench.device import (
    ArrayPlacement,
    FrameworkDevices,
    Sharding,
    Whereabouts,
    locate,
    survey,
)
from ipyjaxbench.errors import CODE_ERRORS, IpyJaxBenchError
from ipyjaxbench.usercode import describe_error, evaluate_expressions, split_expressions

#: What IPython adds to the variables of an engine; the user's are reached through it, too.
_OF_IPYTHON = ("In", "Out", "exit", "get_ipython", "open", "quit")


@dataclass(frozen=True)
class RankWhereabouts:
    """Where the values of one process live, as it travels.

    Attributes:
        host: the name of its machine.
        pid: its number there.
        rank: its number in the job; None where it is alone.
        size: of the job.
        asked: the expressions; empty for all variables.
        failures: by expression why it has no value here.
        homes: the frameworks, with their devices.
        arrays: where each is; without their shardings, and the devices of those.
        cuts: of each array the number of its sharding; None where it has none.
        held: of each array the bytes in this process.
        devices: bytes on each device of this process.
        shardings: each once, since the arrays of a model share a few.
        unnamed: count and bytes of live arrays without a name, by framework.
    """

    host: str
    pid: int
    rank: int | None
    size: int
    asked: tuple[str, ...]
    failures: Mapping[str, str]
    homes: tuple[FrameworkDevices, ...]
    arrays: tuple[ArrayPlacement, ...]
    cuts: tuple[int | None, ...]
    held: tuple[int, ...]
    devices: Mapping[str, int]
    shardings: tuple[Sharding, ...]
    unnamed: Mapping[str, tuple[int, int]]


def locate_here(code: str, names: Mapping[str, object], *, start: bool = False) -> dict[str, Any]:
    """Say where values of this process live; an engine is asked to call this.

    No other process is asked, and no collective runs: a global array of JAX knows its sharding
    everywhere, a DTensor knows its mesh and placements. Only an expression that computes runs what
    the user typed.

    Args:
        code: expressions side by side, as in ``x params["w"]``; all variables where it is empty.
        names: in which they are evaluated: the engine's own variables.
        start: let frameworks look for devices now.

    Returns:
        Plain data, which `merge_whereabouts` reads. An expression that fails here is among it.

    Raises:
        OptionError: the code cannot be read.

    Example:
        >>> locate_here("x", {"x": 1})["asked"]
        ('x',)
    """
    import msgspec

    if not code.strip():
        visible = {name: value for name, value in names.items() if name not in _OF_IPYTHON}
        return msgspec.to_builtins(_pack(survey(visible, start=start), (), {}))  # type: ignore[no-any-return]
    asked = tuple(split_expressions(code))
    values: dict[str, object] = {}
    failures: dict[str, str] = {}
    for expression in asked:
        try:
            values |= evaluate_expressions(names, expression)
        except IpyJaxBenchError as error:
            failures[expression] = str(error).removeprefix(f"{expression}: ")
        except CODE_ERRORS as error:
            failures[expression] = describe_error(error)
    packed = _pack(locate(values, start=start), asked, failures)
    return msgspec.to_builtins(packed)  # type: ignore[no-any-return]


def _without_sharding(array: ArrayPlacement) -> ArrayPlacement:
    """Return an array without its sharding and the devices of that."""
    return replace(array, sharding=None, devices=()) if array.sharding else array


def _pack(w: Whereabouts, asked: tuple[str, ...], failures: Mapping[str, str]) -> RankWhereabouts:
    numbers: dict[Sharding, int] = {}
    cuts = tuple(
        None if each.sharding is None else numbers.setdefault(each.sharding, len(numbers))
        for each in w.arrays
    )
    here = [w.here(each) if each.framework and not each.deleted and not each.of else {}
            for each in w.arrays]  # fmt: skip
    devices: dict[str, int] = {}
    for own in here:
        for device, nbytes in own.items():
            devices[device] = devices.get(device, 0) + nbytes
    return RankWhereabouts(
        host=socket.gethostname(),
        pid=os.getpid(),
        rank=w.process.rank if w.process else None,
        size=w.process.size if w.process else 1,
        asked=asked,
        failures=failures,
        homes=w.homes,
        arrays=tuple(_without_sharding(each) for each in w.arrays),
        cuts=cuts,
        held=tuple(sum(own.values()) for own in here),
        devices=devices,
        shardings=tuple(numbers),
        unnamed=w.unnamed,
    )
