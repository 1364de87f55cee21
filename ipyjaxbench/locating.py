"""Looks where values live and what devices there are; starts nothing."""

import ast
import difflib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ipyjaxbench.awaiting import run
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.located import Located, Whereabouts
from ipyjaxbench.paths import arrays_in
from ipyjaxbench.snippet import Source
from ipyjaxbench.sharding import Sharding

_MOST_LEAVES = 2000  # of one value that are told one by one
_OBJECTS = "object"  # what an array of Python's objects, which holds no numbers, has for a dtype
_NO_DATA = (ModuleType, FunctionType, type)


def locate(values: Mapping[str, object], *, start: bool = False) -> Whereabouts:
    """Say where values live, leaf by leaf.

    Args:
        values: by the expression for each.
        start: whether frameworks that were imported may look for devices now.

    Returns:
        The arrays in them; a value that holds none is told as such.
    """
    frameworks = _frameworks(start=start)
    found: list[Located] = []
    for name, value in values.items():
        leaves = list(_leaves(name, value, frameworks))
        found += leaves or [Located(name, "", type(value).__name__, (), 0, ())]
    mine = {each.framework for each in found}
    homes = tuple(each.home() for each in frameworks if each.has_devices and each.name in mine)
    return Whereabouts(tuple(values), homes, tuple(_with_shared(found)), {})


def survey(names: Mapping[str, object], *, start: bool = False) -> Whereabouts:
    """Say what devices there are, and where the arrays under all names of a session live.

    Args:
        names: the session's.
        start: whether frameworks that were imported may look for devices now.

    Returns:
        One line for each name that holds arrays.
    """
    frameworks = _frameworks(start=start)
    parts: list[Located] = []
    alone: set[str] = set()
    known: set[int] = set()
    for name, value in names.items():
        if name.startswith("_") or isinstance(value, _NO_DATA):
            continue
        held = find_arrays(value, frameworks)
        told = [_told(name, each.framework, each.array) for each in held[:_MOST_LEAVES]]
        parts += [each for each in told if each.dtype != _OBJECTS]
        parts += _rest(name, held[_MOST_LEAVES:], known)
        known |= {id(each.array) for each in held}
        alone |= {name for each in held if each.array is value}
    by_name: dict[str, list[Located]] = {}
    for each in _with_shared(parts):
        by_name.setdefault(each.name, []).append(each)
    found: list[Located] = []
    for name, mine in by_name.items():
        found += mine if name in alone else _together(name, mine)
    unnamed = {
        each.name: (len(rest), sum(each.placement(array).nbytes for array in rest))
        for each in frameworks
        if (rest := [array for array in each.held() if id(array) not in known])
    }
    homes = tuple(each.home() for each in frameworks if each.has_devices)
    return Whereabouts((), homes, tuple(found), unnamed)


def _frameworks(*, start: bool) -> list[Framework]:
    frameworks, _ = loaded()
    if start:
        for each in frameworks:
            each.start()
    return frameworks


def _leaves(name: str, value: object, frameworks: Sequence[Framework]) -> Iterator[Located]:
    found = arrays_in(name, value, frameworks)
    for path, framework, array in itertools.islice(found, _MOST_LEAVES):
        told = _told(path, framework, array)
        if told.dtype != _OBJECTS:
            yield told
    yield from _rest("...", (each[1:] for each in found))


def _rest(
    name: str, found: Iterable[tuple[Framework, Any]], known: Collection[int] = ()
) -> Iterator[Located]:
    """One line for many arrays on the same devices; those that are known take nothing more."""
    count: Counter[tuple[str, tuple[str, ...], int]] = Counter()
    nbytes: Counter[tuple[str, tuple[str, ...], int]] = Counter()
    cuts: dict[int, Sharding | None] = {}  # by identity, since to compare them takes long
    for framework, array in found:
        place = framework.placement(array)
        if place.dtype == _OBJECTS:
            continue
        cut = framework.located(name, array).sharding if len(place.devices) > 1 else None
        cuts[id(cut)] = cut
        where = framework.name, place.devices, id(cut)
        count[where] += 1
        if id(array) not in known and framework.alive(array):
            nbytes[where] += place.nbytes
    lines = []
    for where, number in count.items():
        which, devices, cut = where[0], where[1], cuts[where[2]]
        held = cut.bytes_on(nbytes[where]) if cut else dict.fromkeys(devices, nbytes[where])
        lines.append(Located(name, which, "", (), nbytes[where], tuple(held),
                             parts=_parts(held), arrays=number))  # fmt: skip
    yield from _together(name, lines)


def _parts(held: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(held.values()) if len(held) > 1 else ()


def _told(name: str, framework: Framework, array: object) -> Located:
    """One array; until it is given a name, ``of`` tells memory apart."""
    told = framework.located(name, array)
    return told if told.of else replace(told, of=f"{framework.name} {id(array)}")


def _together(name: str, parts: Sequence[Located]) -> Iterator[Located]:
    """One line for a name; several where its arrays are of several frameworks or devices."""
    groups: dict[tuple[str, tuple[str, ...]], list[Located]] = {}
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
        yield Located(
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


def _with_shared(found: Sequence[Located]) -> Iterator[Located]:
    """Arrays whose memory a larger one has too, or an earlier one, are told with its name."""
    owners: dict[str, int] = {}
    for index, each in enumerate(found):
        if each.of and (each.of not in owners or each.nbytes > found[owners[each.of]].nbytes):
            owners[each.of] = index
    for index, each in enumerate(found):
        owner = owners.get(each.of, index)
        of = "" if owner == index else found[owner].name
        yield replace(each, of=of) if each.of else each


def evaluated(
    names: Mapping[str, object], code: str, source: Callable[[str], Source] = Source.plain
) -> dict[str, object]:
    """The values of expressions that stand side by side, as in ``x params["w"] model``.

    Args:
        names: in which they are evaluated.
        code: the expressions, with blanks between them.
        source: makes one of them known to tracebacks.

    Raises:
        OptionError: it cannot be read, or a name does not exist; one spelled alike is told.
    """
    __tracebackhide__ = True
    found = {}
    for expression in _apart(code):
        try:
            found[expression] = run(_read(source(expression)), dict(names))
        except NameError as error:
            near = difflib.get_close_matches(error.name or "", [*names], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise OptionError(f"{expression}: there is no name {error.name!r}{hint}") from None
    return found


def _read(source: Source) -> CodeType:
    (only,) = source.tree.body
    assert isinstance(only, ast.Expr)
    return source.compiled(ast.Expression(only.value))


def _apart(code: str) -> Iterator[str]:
    """Expressions that stand side by side: each as long as what is left can still be read."""
    words = code.split()
    while words:
        for length in range(1, len(words) + 1):
            expression = " ".join(words[:length])
            if _is_expression(expression):
                yield expression
                words = words[length:]
                break
        else:
            raise OptionError(f"{code}: names or expressions, with blanks between them")


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
