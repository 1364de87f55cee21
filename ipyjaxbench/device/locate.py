"""Looks where values live and what devices there are; starts nothing."""

import itertools
import os
import re
import socket
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ipyjaxbench.device.beside_attributes import parts_of_name
from ipyjaxbench.device.devices import FrameworkDevices
from ipyjaxbench.device.gpu_slices import add_slices
from ipyjaxbench.device.preallocation import add_preallocation
from ipyjaxbench.device.protocol import ArrayInspector, DeviceInventory
from ipyjaxbench.device.start_frameworks import start_frameworks
from ipyjaxbench.device.whereabouts import ArrayPlacement, Process, Whereabouts
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import (
    Budget,
    Framework,
    find_job,
    iterate_arrays,
    iterate_named_arrays,
    loaded,
)
from ipyjaxbench.usercode import is_display, is_users_file, name_of

_MAX_LEAVES = 2000  # of one value that are shown one by one
_OBJECTS = "object"  # what an array of Python's objects, which holds no numbers, has for a dtype
#: The first key of a path that is a name.
_FIRST_KEY = re.compile(r"^\['([^\W\d]\w*)'\]")
_NO_DATA = (ModuleType, FunctionType, type)


def locate(values: Mapping[str, object], *, start: bool = False) -> Whereabouts:
    """Say where values live, leaf by leaf; ``start`` lets frameworks look for devices now."""
    frameworks = _load_frameworks(start=start)
    placements: list[ArrayPlacement] = []
    sums: set[str] = set()  # expressions of which no array is shown by itself
    for name, value in values.items():
        budget = Budget()
        root = "" if len(values) == 1 and is_display(name) else name
        leaves = list(_leaves(root, value, frameworks, budget))
        if not leaves and (leaves := list(_hidden(name, value, frameworks))):
            sums.add(name)
        placements += leaves or ([] if budget.is_spent else [_no_array(name, value, frameworks)])
        placements += [_cut(name, value, "more " if leaves else "")] if budget.is_spent else []
    used = {placement.framework for placement in placements}
    homes = _devices(each for each in frameworks if each.name in used)
    arrays = tuple(_sum_by_name(_mark_shared(placements), sums))
    return Whereabouts(tuple(values), homes, arrays, {}, process=_process())


def survey(names: Mapping[str, object], *, start: bool = False) -> Whereabouts:
    """Say what devices there are, and where the arrays under each name of a session live."""
    frameworks = _load_frameworks(start=start)
    placements: list[ArrayPlacement] = []
    alone: set[str] = set()
    known: set[int] = set()
    for name, value in _with_parts(names):
        leaves = iterate_arrays(value, frameworks)
        for framework, array in itertools.islice(leaves, _MAX_LEAVES):
            known.add(id(framework.capability(ArrayInspector).base_array(array)))
            placements += _place(name, framework, array)
            if array is value:
                alone.add(name)
        placements += _rest(name, leaves, known)
    sums = {placement.name for placement in placements} - alone
    arrays = tuple(_sum_by_name(_mark_shared(placements), sums))
    unnamed, largest = _count_unnamed(frameworks, known)
    return Whereabouts((), _devices(frameworks), arrays, unnamed, largest, _process())


def _with_parts(names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield what may hold arrays: what names stand for, and what else they lead to."""
    for name, value in names.items():
        if name.startswith("_"):
            continue
        if not issubclass(type(value), _NO_DATA):
            yield name, value
        yield from ((part.path, part.value) for part in parts_of_name(name, value))


def _process() -> Process | None:
    """Return which process of a job this is; None where it is alone. Others are not asked."""
    found = find_job()
    if found is None:
        return None
    _, job = found
    return Process(job.rank, job.size, socket.gethostname(), os.getpid())


def _load_frameworks(*, start: bool) -> list[Framework]:
    frameworks, _ = loaded()
    if start:
        start_frameworks(frameworks)
    return frameworks


def _devices(frameworks: Iterable[Framework]) -> tuple[FrameworkDevices, ...]:
    inventories = (each.capability(DeviceInventory) for each in frameworks)
    homes = [each.devices() for each in inventories if each.has_devices]
    return add_preallocation([*map(add_slices, homes)])


def _place(name: str, framework: Framework, array: object) -> Iterator[ArrayPlacement]:
    """Yield where an array of numbers is; until it is given a name, ``of`` tells memory apart."""
    placed = framework.capability(ArrayInspector).locate(name, array)
    if placed.dtype != _OBJECTS:
        yield placed if placed.of else replace(placed, of=f"{framework.name} {id(array)}")


def _sum_by_name(
    placements: Iterable[ArrayPlacement], names: Collection[str]
) -> Iterator[ArrayPlacement]:
    """Yield one line for each of these names, where its first array stands; others as they are."""
    in_order = list(placements)
    by_name: dict[str, list[ArrayPlacement]] = {}
    for each in in_order:
        by_name.setdefault(each.name, []).append(each)
    for each in in_order:
        if each.name not in names:
            yield each
        elif each.name in by_name:
            yield from _merge(each.name, by_name.pop(each.name))


def _count_unnamed(
    frameworks: Sequence[Framework], known: Collection[int]
) -> tuple[dict[str, tuple[int, int]], tuple[ArrayPlacement, ...]]:
    """Return how many arrays have no name, and their bytes, by framework; the largest of each."""
    counts, largest = {}, []
    for framework in frameworks:
        inspector = framework.capability(ArrayInspector)
        rest = [array for array in inspector.live_arrays() if id(array) not in known]
        if rest:
            weights = [inspector.weight(array) for array in rest]
            sizes = [weight.nbytes if weight else 0 for weight in weights]
            counts[framework.name] = len(rest), sum(sizes)
            array = rest[sizes.index(max(sizes))]
            made = _describe_creation(inspector.creation_frames(array))
            largest.append(replace(inspector.locate("", array), of="", layout=made))
    return counts, tuple(largest)


def _describe_creation(calls: Iterable[tuple[str, str, int]]) -> str:
    """Return which line of the user's code made an array, in words."""
    for file, function, line in calls:
        if is_users_file(file):
            where = f" of {Path(file).name}" if Path(file).is_file() else ""
            within = f", in {function}" if function != "<module>" else ""
            return f"created in line {line}{where}{within}"
    return ""


def _leaves(
    name: str, value: object, frameworks: Sequence[Framework], budget: Budget
) -> Iterator[ArrayPlacement]:
    leaves = iterate_named_arrays(name, value, frameworks, budget)
    for path, framework, array in itertools.islice(leaves, _MAX_LEAVES):
        yield from _place(path if name else _FIRST_KEY.sub(r"\1", path), framework, array)
    yield from _rest("...", (each[1:] for each in leaves), set())


def _hidden(name: str, value: object, frameworks: Sequence[Framework]) -> Iterator[ArrayPlacement]:
    """Yield arrays to which no path leads that a person could type, such as those of a set."""
    for framework, array in itertools.islice(iterate_arrays(value, frameworks), _MAX_LEAVES):
        yield from _place(name, framework, array)


def _cut(name: str, value: object, other: str) -> ArrayPlacement:
    """Return what stands for the rest of a value that is too large."""
    description = f"no {other}arrays in the part searched; too large to search completely"
    return ArrayPlacement(name, "", name_of(type(value)), (), 0, (), layout=description)


def _no_array(name: str, value: object, frameworks: Sequence[Framework]) -> ArrayPlacement:
    descriptions = (each.capability(ArrayInspector).describe(value) for each in frameworks)
    try:
        description = next(filter(None, descriptions), "")
    # A proxy may raise whatever it likes when it is asked for its class.
    except CODE_ERRORS:
        description = ""
    return ArrayPlacement(name, "", name_of(type(value)), (), 0, (), layout=description)


def _rest(
    name: str, arrays: Iterable[tuple[Framework, Any]], known: set[int]
) -> Iterator[ArrayPlacement]:
    """Yield a line for many arrays on the same devices; those that are known take nothing more."""
    # By the identity of the sharding, since to compare shardings takes long.
    sums: dict[tuple[str, tuple[str, ...], int], list[Any]] = {}
    for framework, array in arrays:
        inspector = framework.capability(ArrayInspector)
        weight = inspector.weight(array)
        if weight is None:
            continue
        devices, nbytes, cut = weight
        total = sums.setdefault((framework.name, devices, id(cut)), [0, 0, cut])
        total[0] += 1
        number = id(inspector.base_array(array))
        if number not in known:
            known.add(number)
            total[1] += nbytes
    lines = []
    for (framework_name, devices, _), (count, nbytes, cut) in sums.items():
        held = cut.bytes_on(nbytes) if cut else dict.fromkeys(devices, nbytes)
        lines.append(ArrayPlacement(name, framework_name, "", (), nbytes, tuple(held),
                             parts=_parts(held), arrays=count))  # fmt: skip
    yield from _merge(name, lines)


def _parts(held: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(held.values()) if len(held) > 1 else ()


def _merge(name: str, placements: Sequence[ArrayPlacement]) -> Iterator[ArrayPlacement]:
    """Yield one line for a name; several where its arrays are of several frameworks or devices."""
    groups: dict[tuple[str, tuple[str, ...]], list[ArrayPlacement]] = {}
    for each in placements:
        groups.setdefault((each.framework, each.devices), []).append(each)
    for (framework, devices), group in groups.items():
        if len(group) == 1:
            yield group[0]
            continue
        own = [each for each in group if not each.of and not each.deleted]
        held = Counter(dict.fromkeys(devices, 0))
        for each in own:
            held.update(each.on_devices())
        counts = {
            "sharing memory with others": sum(bool(each.of) for each in group),
            "deleted": sum(each.deleted for each in group),
        }
        yield ArrayPlacement(
            name=name,
            framework=framework,
            dtype="",
            shape=(),
            nbytes=sum(each.nbytes for each in own),
            devices=devices,
            layout=", ".join(f"{n} {what}" for what, n in counts.items() if n),
            parts=_parts(held),
            arrays=sum(each.arrays for each in group),
        )


def _mark_shared(placements: Sequence[ArrayPlacement]) -> Iterator[ArrayPlacement]:
    """Name the array that has the same memory: the largest one, of these the first."""
    owners: dict[str, ArrayPlacement] = {}
    for each in placements:
        if each.of and (each.of not in owners or each.nbytes > owners[each.of].nbytes):
            owners[each.of] = each
    for each in placements:
        owner = owners.get(each.of, each)
        yield replace(each, of="" if owner is each else owner.name)
