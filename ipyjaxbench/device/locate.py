"""Looks where values live and what devices there are; starts nothing."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ipyjaxbench.device.placement import ArrayPlacement, Placements
from ipyjaxbench.device.protocol import ArrayInspector, DeviceInventory
from ipyjaxbench.frameworks import Budget, Framework, iterate_arrays, iterate_named_arrays, loaded
from ipyjaxbench.usercode import is_users_file, name_of

_MOST_LEAVES = 2000  # of one value that are told one by one
_OBJECTS = "object"  # what an array of Python's objects, which holds no numbers, has for a dtype
_NO_DATA = (ModuleType, FunctionType, type)


def locate(values: Mapping[str, object], *, start: bool = False) -> Placements:
    """Say where values live, leaf by leaf.

    Args:
        values: by the expression for each.
        start: whether frameworks that were imported may look for devices now.

    Returns:
        The arrays in them; a value that holds none is told as such.
    """
    frameworks = _frameworks(start=start)
    placements: list[ArrayPlacement] = []
    sums: set[str] = set()  # expressions of which no array is told by itself
    for name, value in values.items():
        budget = Budget()
        leaves = list(_leaves(name, value, frameworks, budget))
        if not leaves and (leaves := list(_hidden(name, value, frameworks))):
            sums.add(name)
        placements += leaves or ([] if budget.is_spent else [_no_array(name, value, frameworks)])
        placements += [_cut(name, value, "else " if leaves else "")] if budget.is_spent else []
    names_in_play = {each.framework for each in placements}
    homes = tuple(
        each.capability(DeviceInventory).devices()
        for each in frameworks
        if each.capability(DeviceInventory).has_devices and each.name in names_in_play
    )
    return Placements(tuple(values), homes, tuple(_summed(_with_shared(placements), sums)), {})


def survey(names: Mapping[str, object], *, start: bool = False) -> Placements:
    """Say what devices there are, and where the arrays under all names of a session live.

    Args:
        names: the session's.
        start: whether frameworks that were imported may look for devices now.

    Returns:
        One line for each name that holds arrays.
    """
    frameworks = _frameworks(start=start)
    parts: list[ArrayPlacement] = []
    alone: set[str] = set()
    known: set[int] = set()
    for name, value in names.items():
        if name.startswith("_") or issubclass(type(value), _NO_DATA):
            continue
        found_here = iterate_arrays(value, frameworks)
        for framework, array in itertools.islice(found_here, _MOST_LEAVES):
            known.add(id(framework.capability(ArrayInspector).base_array(array)))
            placement = _told(name, framework, array)
            if placement.dtype != _OBJECTS:
                parts.append(placement)
            if array is value:
                alone.add(name)
        parts += _rest(name, found_here, known)
    sums = {each.name for each in parts} - alone
    found = tuple(_summed(_with_shared(parts), sums))
    homes = tuple(
        each.capability(DeviceInventory).devices()
        for each in frameworks
        if each.capability(DeviceInventory).has_devices
    )
    return Placements((), homes, found, *_unnamed(frameworks, known))


def _summed(parts: Iterable[ArrayPlacement], names: Collection[str]) -> Iterator[ArrayPlacement]:
    """One line for each of these names, where its first array stands; all others as they are."""
    in_order = list(parts)
    by_name: dict[str, list[ArrayPlacement]] = {}
    for each in in_order:
        by_name.setdefault(each.name, []).append(each)
    for each in in_order:
        if each.name not in names:
            yield each
        elif each.name in by_name:
            yield from _together(each.name, by_name.pop(each.name))


def _unnamed(
    frameworks: Sequence[Framework], known: Collection[int]
) -> tuple[dict[str, tuple[int, int]], tuple[ArrayPlacement, ...]]:
    """How many arrays have no name, and their bytes, by framework; and the largest of each."""
    counts, largest = {}, []
    for framework in frameworks:
        rest = [
            array
            for array in framework.capability(ArrayInspector).live_arrays()
            if id(array) not in known
        ]
        if not rest:
            continue
        sizes = [
            weight.nbytes if (weight := framework.capability(ArrayInspector).weight(array)) else 0
            for array in rest
        ]
        counts[framework.name] = len(rest), sum(sizes)
        array = rest[sizes.index(max(sizes))]
        largest.append(
            replace(
                framework.capability(ArrayInspector).located("", array),
                layout=_made(framework, array),
            )
        )
    return counts, tuple(largest)


def _made(framework: Framework, array: object) -> str:
    """Return where the user's code made it, in words."""
    frames = (
        each
        for each in framework.capability(ArrayInspector).made_at(array)
        if is_users_file(each[0])
    )
    file, function, line = next(frames, ("", "", 0))
    if not file:
        return ""
    where = f" of {Path(file).name}" if Path(file).is_file() else ""
    within = f", in {function}" if function != "<module>" else ""
    return f"made in line {line}{where}{within}"


def _frameworks(*, start: bool) -> list[Framework]:
    frameworks, _ = loaded()
    if start:
        for each in frameworks:
            each.capability(DeviceInventory).start()
    return frameworks


def _hidden(name: str, value: object, frameworks: Sequence[Framework]) -> Iterator[ArrayPlacement]:
    """Yield arrays to which no path leads that a person could type, such as those of a set."""
    found = itertools.islice(iterate_arrays(value, frameworks), _MOST_LEAVES)
    told = (_told(name, framework, array) for framework, array in found)
    yield from (each for each in told if each.dtype != _OBJECTS)


def _cut(name: str, value: object, other: str) -> ArrayPlacement:
    """Return what stands for the rest of a value that is too large."""
    words = f"in what {other}was looked at; it is too large to look at all of it"
    return ArrayPlacement(name, "", name_of(type(value)), (), 0, (), layout=words)


def _no_array(name: str, value: object, frameworks: Sequence[Framework]) -> ArrayPlacement:
    words = (each.capability(ArrayInspector).described(value) for each in frameworks)
    try:
        told = next(filter(None, words), "")
    # A proxy may raise whatever it likes when it is asked for its class.
    except Exception:  # noqa: BLE001
        told = ""
    return ArrayPlacement(name, "", name_of(type(value)), (), 0, (), layout=told)


def _leaves(
    name: str, value: object, frameworks: Sequence[Framework], budget: Budget
) -> Iterator[ArrayPlacement]:
    found = iterate_named_arrays(name, value, frameworks, budget)
    for path, framework, array in itertools.islice(found, _MOST_LEAVES):
        told = _told(path, framework, array)
        if told.dtype != _OBJECTS:
            yield told
    yield from _rest("...", (each[1:] for each in found), set())


def _rest(
    name: str, found: Iterable[tuple[Framework, Any]], known: set[int]
) -> Iterator[ArrayPlacement]:
    """One line for many arrays on the same devices; those that are known take nothing more."""
    # By the identity of the sharding, since to compare shardings takes long.
    sums: dict[tuple[str, tuple[str, ...], int], list[Any]] = {}
    for framework, array in found:
        weight = framework.capability(ArrayInspector).weight(array)
        if weight is None:
            continue
        devices, nbytes, cut = weight
        where = framework.name, devices, id(cut)
        if where not in sums:
            sums[where] = [0, 0, cut]
        total = sums[where]
        total[0] += 1
        number = id(framework.capability(ArrayInspector).base_array(array))
        if number not in known:
            known.add(number)
            total[1] += nbytes
    lines = []
    for (framework_name, devices, _), (count, nbytes, cut) in sums.items():
        held = cut.bytes_on(nbytes) if cut else dict.fromkeys(devices, nbytes)
        lines.append(ArrayPlacement(name, framework_name, "", (), nbytes, tuple(held),
                             parts=_parts(held), arrays=count))  # fmt: skip
    yield from _together(name, lines)


def _parts(held: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(held.values()) if len(held) > 1 else ()


def _told(name: str, framework: Framework, array: object) -> ArrayPlacement:
    """Return where one array is; until it is given a name, ``of`` tells memory apart."""
    told = framework.capability(ArrayInspector).located(name, array)
    return told if told.of else replace(told, of=f"{framework.name} {id(array)}")


def _together(name: str, parts: Sequence[ArrayPlacement]) -> Iterator[ArrayPlacement]:
    """Yield one line for a name; several where its arrays are of several frameworks or devices."""
    groups: dict[tuple[str, tuple[str, ...]], list[ArrayPlacement]] = {}
    for told in parts:
        groups.setdefault((told.framework, told.devices), []).append(told)
    for (framework, devices), mine in groups.items():
        if len(mine) == 1:
            yield mine[0]
            continue
        shared = sum(bool(told.of) for told in mine)
        own = [told for told in mine if not told.of and not told.deleted]
        held = Counter(dict.fromkeys(devices, 0))
        for told in own:
            held.update(told.on_devices())
        words = [f"{shared} of them share memory with others"] if shared else []
        gone = sum(told.deleted for told in mine)
        words += [f"{gone} of them deleted"] if gone else []
        yield ArrayPlacement(
            name=name,
            framework=framework,
            dtype="",
            shape=(),
            nbytes=sum(told.nbytes for told in own),
            devices=devices,
            layout=", ".join(words),
            parts=_parts(held),
            arrays=sum(told.arrays for told in mine),
        )


def _with_shared(found: Sequence[ArrayPlacement]) -> Iterator[ArrayPlacement]:
    """Yield arrays whose memory a larger one has too, or an earlier one, are told with its name."""
    owners: dict[str, int] = {}
    for index, each in enumerate(found):
        if each.of and (each.of not in owners or each.nbytes > found[owners[each.of]].nbytes):
            owners[each.of] = index
    for index, each in enumerate(found):
        owner = owners.get(each.of, index)
        of = "" if owner == index else found[owner].name
        yield replace(each, of=of) if each.of else each
