"""Compares arms again and again while names take one value after the other."""

import ast
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ipyjaxbench import user_errors
from ipyjaxbench.bindings import restored
from ipyjaxbench.comparison import Comparison
from ipyjaxbench.contender import Entry
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.muted import Muted
from ipyjaxbench.options import CompareOptions
from ipyjaxbench.pace import Told
from ipyjaxbench.snippet import Namespace, Snippet
from ipyjaxbench.swept import Point, Skipped, Sweep, number
from ipyjaxbench.timer import nobody
from ipyjaxbench.turns import compare_snippets

_MOST_POINTS = 200
_TO = ".."
_AT_EACH_POINT = 0.5  # of what an arm of a comparison gets


def values_of(name: str, text: str, names: Namespace) -> list[Any]:
    """The values that a name is to take.

    Args:
        name: the name, for errors.
        text: expressions with commas between them, or ``low..high``, which doubles; a name that
            is bound to nothing stands for itself, so that ``float32`` need not be quoted.
        names: where the expressions are evaluated.

    Returns:
        One value at least.

    Raises:
        OptionError: it is not an expression, there is nothing in it, or far too much.

    Example:
        >>> values_of("n", "2**4..2**6", {}), values_of("d", "float32, 8", {})
        ([16, 32, 64], ['float32', 8])
    """
    shown = f"--sweep {name}={text}"
    low, to, high = text.partition(_TO)
    if not to:
        return _evaluated(text, names, shown)
    (first,), (last,) = (_evaluated(part, names, shown) for part in (low, high))
    if not (isinstance(first, int | float) and isinstance(last, int | float) and 0 < first <= last):
        raise OptionError(f"{shown}: a range goes from a number over 0 up, as in n=2**6..2**12")
    count = math.floor(math.log2(last / first) + 1e-9) + 1
    return [first * 2**i for i in range(count)]


def _evaluated(text: str, names: Namespace, shown: str) -> list[Any]:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise OptionError(
            f"{shown}: type values with commas between them, as in n=100,300"
        ) from None
    nodes = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    if not nodes:
        raise OptionError(f"{shown}: there is no value in it")
    found = []
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in names:
            found.append(node.id)
            continue
        code = compile(ast.Expression(node), "<sweep>", "eval")
        try:
            found.append(eval(code, names))
        except Exception as error:  # noqa: BLE001  theirs is one line, as of any other option
            raise OptionError(f"{shown}: {type(error).__name__}: {error}") from None
    return found


def sweep_snippets(
    setup: Snippet | None,
    entries: Sequence[Entry],
    swept: Mapping[str, Sequence[Any]],
    options: CompareOptions,
    *,
    muted: Callable[[], Muted] = Muted,
    told: Told = nobody,
) -> Sweep:
    """Compare at each combination of values; names are afterwards as they were.

    Args:
        setup: runs once at each point, after the names were bound.
        entries: the arms.
        swept: the values of each name.
        options: as for a comparison; the budget is that of all points together.
        muted: makes what keeps the output of later calls from being shown.
        told: hears how far it is.

    Returns:
        All points that were reached: an interrupt ends it with what is known.

    Raises:
        OptionError: no arm uses a name, or there are too many points.
    """
    __tracebackhide__ = True
    _refuse(setup, entries, swept)
    names = entries[0].snippet.names
    points = list(itertools.product(*swept.values()))
    each = (
        options.seconds_for(len(entries)) * _AT_EACH_POINT
        if options.budget is None
        else options.budget / len(points)
    )
    options = dataclasses.replace(options, budget=each)
    found: list[Point] = []
    skipped: dict[str, Skipped] = {}
    failed: dict[str, Exception] = {}
    parts = [*([setup] if setup else []), *(part for entry in entries for part in entry.parts)]
    with restored(parts, *swept):
        try:
            for number, values in enumerate(points, start=1):
                going = [entry for entry in entries if entry.label not in skipped]
                if len(going) < 2:
                    break
                names.update(zip(swept, values, strict=True))
                shown = tuple(map(_shown, values))
                if (error := _prepared(setup)) is not None:
                    failed[", ".join(shown)] = error
                    continue
                base = options.baseline if options.baseline not in skipped else None
                at = dataclasses.replace(options, baseline=base)
                compared = compare_snippets(going, at, muted=muted(), told=told)
                found.append(Point(shown, compared))
                if any(note.code == "interrupted" for note in compared.notes):
                    break
                left_out = [*_too_slow(compared, shown, each)]
                if number < len(points):
                    left_out += _too_large(tuple(swept), found, points[number])
                skipped |= {one.label: one for one in left_out if one.label not in skipped}
        except KeyboardInterrupt:
            if not found:
                raise
    if failed and not found:
        raise next(iter(failed.values()))
    labels = tuple(entry.label for entry in entries)
    unmade = {at: user_errors.one_line(error) for at, error in failed.items()}
    return Sweep(tuple(swept), labels, tuple(found), tuple(skipped.values()), len(points), unmade)


def _prepared(setup: Snippet | None) -> Exception | None:
    """Run the set-up; the error with which it failed, since it may go well at other values."""
    try:
        if setup is not None:
            setup.run()
    except Exception as error:  # noqa: BLE001
        return error
    return None


def _refuse(
    setup: Snippet | None, entries: Sequence[Entry], swept: Mapping[str, Sequence[Any]]
) -> None:
    parts = [*([setup] if setup else []), *(part for entry in entries for part in entry.parts)]
    used = {name for part in parts for name in part.reads}
    for name in swept.keys() - used:
        raise OptionError(f"--sweep {name}: no arm and no set-up reads {name}")
    count = math.prod(map(len, swept.values()))
    if count > _MOST_POINTS:
        raise OptionError(f"--sweep: these are {count:,} points, and {_MOST_POINTS} is the most")


def _too_slow(compared: Comparison, values: tuple[str, ...], budget: float) -> Iterator[Skipped]:
    """Arms of which the next point would pass the budget."""
    for side in compared.sides:
        m = side.measured
        if m is not None and m.median > budget:
            yield Skipped(side.label, values, m.median, budget)


def _too_large(
    names: tuple[str, ...], found: Sequence[Point], following: Sequence[object]
) -> Iterator[Skipped]:
    """Arms whose arrays would not fit at the next point, growing as they did up to here."""
    so_far = Sweep(names, (), tuple(found))
    sides = found[-1].compared.sides
    value = number(str(following[0])) if len(names) == 1 else math.nan
    for side in sides:
        sizes = so_far.sizes(side.label)[-2:]
        if len(sizes) < 2 or side.measured is None:
            continue
        (x1, before), (x2, now) = sizes
        if not (x1 < x2 < value and 0 < before < now):
            continue
        power = math.log(now / before) / math.log(x2 / x1)
        needed = now * (value / x2) ** power
        mine = [f for f in loaded()[0] if f.name in side.measured.frameworks]
        free = min((f.free_memory() for f in mine), default=math.inf)
        if needed * len(sides) > free:
            yield Skipped(side.label, found[-1].values, needed=int(needed), free=int(free))


def _shown(value: object) -> str:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else str(value)
