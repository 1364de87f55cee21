"""The engines that a user names: all of them, some by number, or those of a view."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ipyjaxbench.cluster.engines import Engines
from ipyjaxbench.errors import OptionError

_RANGE = re.compile(r"(-?\d+)?:(-?\d+)?(?::([1-9]\d*))?")
_NUMBERS = re.compile(r"-?\d+(,-?\d+)*")
_START = "rc = ipyparallel.Cluster(n=4).start_and_connect_sync()"


def find_engines(chosen: str, names: Mapping[str, Any]) -> Engines:
    """Return the engines that ``--engines`` names.

    Args:
        chosen: "all", numbers ("0,2"), a range ("0:4"), or the name of a client or a view.
        names: where clients and views are looked up.

    Raises:
        OptionError: there is no client, there are several, or they have no such engines.
    """
    if chosen in names:
        return engines_of(names[chosen], f"--engines {chosen}")
    by_number = chosen == "all" or _RANGE.fullmatch(chosen) or _NUMBERS.fullmatch(chosen)
    if not by_number:
        raise OptionError(
            f"--engines {chosen}: no variable has this name. Type all, 0:4, 0,2 or the name of a"
            " client or a view."
        )
    clients = [*_clients(names)]
    if not clients:
        raise OptionError(f"--engines {chosen}: there is no client. Start engines: {_START}")
    if len(clients) > 1:
        named = ", ".join(name for name, _ in clients)
        raise OptionError(f"--engines {chosen}: several clients are there. Name one: {named}")
    [(name, client)] = clients
    every = engines_of(client, name)
    return every if chosen == "all" else every.choose(_indices(chosen, every.numbers))


def engines_of(value: Any, typed: str) -> Engines:
    """Return the engines of a client or a view of ipyparallel, or of a client of Dask.

    Raises:
        OptionError: it is neither, it is closed, or it has no engines.
    """
    engines = _ipyparallel(value)
    engines = _dask(value) if engines is None else engines
    if engines is None:
        raise OptionError(
            f"{typed}: has type {type(value).__name__}; must be a client or a view of ipyparallel,"
            " or a client of Dask"
        )
    if not len(engines):
        raise OptionError(f"{typed}: no engine is there. Start some: {_START}")
    return engines


def has_client(names: Mapping[str, Any]) -> bool:
    """Return whether a client of ipyparallel or of Dask is among values."""
    return any(_clients(names))


def is_client(value: object) -> bool:
    """Return whether a value is a client or a view of ipyparallel, or a client of Dask."""
    ipyparallel, dask = (sys.modules.get(name) for name in ("ipyparallel", "distributed"))
    kinds = (ipyparallel.Client, ipyparallel.client.view.View) if ipyparallel else ()
    return isinstance(value, (*kinds, dask.Client) if dask else kinds)


def _ipyparallel(value: Any) -> Engines | None:
    library = sys.modules.get("ipyparallel")
    if library is None:
        return None
    from ipyjaxbench.cluster.ipyparallel_engines import IpyparallelEngines

    if isinstance(value, library.Client):
        return IpyparallelEngines(value, () if _has_ended(value) else value.ids)
    if isinstance(value, library.client.view.View):
        targets = value.targets
        targets = value.client.ids if targets in (None, "all") else targets
        numbers = [targets] if isinstance(targets, int) else [*targets]
        return IpyparallelEngines(value.client, () if _has_ended(value.client) else numbers)
    return None


def _has_ended(client: Any) -> bool:
    """Return whether a client is closed, or has stopped its cluster: it knows its engines still."""
    cluster = getattr(client, "cluster", None)
    stopped = cluster is not None and cluster.controller is None and not cluster.engines
    return stopped or getattr(client, "_closed", False)


def _dask(value: Any) -> Engines | None:
    library = sys.modules.get("distributed")
    if library is None or not isinstance(value, library.Client):
        return None
    from ipyjaxbench.cluster.dask_engines import DaskEngines, addresses_of

    return DaskEngines(value, addresses_of(value) if value.status == "running" else ())


def _clients(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the clients among values, each once, by the name that it was given last."""
    kinds = tuple(
        sys.modules[library].Client
        for library in ("ipyparallel", "distributed")
        if library in sys.modules
    )
    found = {id(value): (name, value) for name, value in names.items() if isinstance(value, kinds)}
    yield from found.values()


def _indices(chosen: str, numbers: Sequence[int]) -> list[int]:
    """Return which of the engines with these numbers are chosen."""
    if match := _RANGE.fullmatch(chosen):
        bounds = (int(part) if part else None for part in match.groups())
        indices = [*range(len(numbers))[slice(*bounds)]]
        wrong = "" if indices else " chooses none"
    else:
        parts = [int(part) for part in chosen.split(",")]
        last = [numbers[n] if n < 0 and -n <= len(numbers) else n for n in parts]  # as in lists
        wanted = [*dict.fromkeys(last)]
        absent = [number for number in wanted if number not in numbers]
        wrong = f": there is no engine {absent[0]}" if absent else ""
        indices = [numbers.index(number) for number in wanted if number in numbers]
    if wrong:
        there = ", ".join(map(str, numbers))
        raise OptionError(f"--engines {chosen}{wrong}. The engines are {there}.")
    return indices
