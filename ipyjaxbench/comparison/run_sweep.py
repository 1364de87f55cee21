"""Compares arms again and again while names take one value after the other."""

import ast
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.comparison import Comparison
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.name_bindings import names_restored
from ipyjaxbench.comparison.options import RANGE_SIGN, CompareOptions
from ipyjaxbench.comparison.sweep import Point, Skipped, Sweep, number
from ipyjaxbench.errors import CODE_ERRORS, ArmFailedError, Interrupted, OptionError, by_caller
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import OnProgress, ignore_progress
from ipyjaxbench.usercode import Muted, Namespace, Snippet, describe_error, name_of

_MAX_POINTS = 200
_PLAIN = (bool, int, float, complex, str, tuple)  # what looks alike is the same
_BUDGET_SHARE_PER_POINT = 0.5  # of what an arm of a comparison gets


def values_of(name: str, text: str, names: Namespace) -> list[Any]:
    """Return the values that a name is to take, one at least.

    Args:
        name: the name, for errors.
        text: expressions with commas between them, or ``low..high``, which doubles; a name that
            is bound to nothing stands for itself, so that ``float32`` need not be quoted.
        names: where the expressions are evaluated.

    Example:
        >>> values_of("n", "2**4..2**6", {}), values_of("d", "float32, 8", {})
        ([16, 32, 64], ['float32', 8])
    """
    shown = f"--sweep {name}={text}"
    low, to, high = text.partition(RANGE_SIGN)
    if not to:
        values = _evaluated(text, names, shown)
        _refuse_repeated(shown, values)
        return values
    (first,), (last,) = (_evaluated(part, names, shown) for part in (low, high))
    if not (isinstance(first, int | float) and isinstance(last, int | float) and 0 < first <= last):
        raise OptionError(f"{shown}: a range is low..high with 0 < low <= high")
    count = math.floor(math.log2(last / first) + 1e-9) + 1
    return [first * 2**i for i in range(count)]


def _evaluated(text: str, names: Namespace, shown: str) -> list[Any]:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        advice = "separate values with commas, for example n=100,300"
        raise OptionError(f"{shown}: {advice}") from None
    nodes = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    if not nodes:
        raise OptionError(f"{shown}: no values given")
    values = []
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in names:
            values.append(node.id)
            continue
        code = compile(ast.Expression(node), "<sweep>", "eval")
        try:
            values.append(eval(code, names))
        except CODE_ERRORS as error:  # theirs is one line, as of any other option
            raise OptionError(f"{shown}: {type(error).__name__}: {error}") from None
    return values


def sweep_snippets(
    setup: Snippet | None,
    entries: Sequence[ArmSpec],
    swept: Mapping[str, Sequence[Any]],
    options: CompareOptions,
    *,
    muted: Callable[[], Muted] = Muted,
    on_progress: OnProgress = ignore_progress,
    clock: Clock | None = None,
) -> Sweep:
    """Compare at each combination of values of ``swept``; names are afterwards as they were.

    The ``setup`` runs once at each point, after the names were bound; the options' budget is that
    of all points together; ``muted`` makes what keeps later calls' output from being shown.

    Raises:
        OptionError: no arm uses a name, or there are too many points.
        ArmFailedError: an arm or the setup failed at a point, which is not to be passed over, or
            all of them did at every point.
        Interrupted: the user ended it; it holds the points that were reached until then.
    """
    __tracebackhide__ = True
    parts = [*([setup] if setup else []), *(part for entry in entries for part in entry.parts)]
    _refuse(parts, swept)
    names = entries[0].snippet.names
    points = list(itertools.product(*swept.values()))
    budget, options = _options_per_point(options, len(entries), len(points))
    reached = _Reached(tuple(swept), tuple(entry.label for entry in entries), len(points))
    with names_restored(parts, *swept):
        try:
            for number, values in enumerate(points, start=1):
                going = [entry for entry in entries if entry.label not in reached.skipped]
                if len(going) < 2:
                    break
                names.update(zip(swept, values, strict=True))
                shown = tuple(name_of(value) or str(value) for value in values)
                try:
                    if setup is not None:
                        setup.run()
                except CODE_ERRORS as error:  # it may go well at other values
                    reached.fail(shown, error)
                    continue
                base = options.baseline if options.baseline not in reached.skipped else None
                at = dataclasses.replace(options, baseline=base)
                compare = partial(compare_snippets, going, at, muted=muted(),
                                  on_progress=on_progress, clock=clock)  # fmt: skip
                compared = reached.compare(shown, compare)
                reached.skip(_too_slow(compared, shown, budget))
                if number < len(points):
                    reached.skip(_too_large(reached.sweep(), points[number]))
        except KeyboardInterrupt as stopped:
            if not reached.points:
                raise
            raise Interrupted(reached.sweep(), stopped) from None
    reached.raise_what_failed(keep_going=options.keep_going)
    return reached.sweep()


@dataclass
class _Reached:
    """What a sweep has so far."""

    names: tuple[str, ...]  # that are swept
    labels: tuple[str, ...]  # of the arms
    planned: int  # how many points there are to be
    points: list[Point] = field(default_factory=list)  # with what was found there
    skipped: dict[str, Skipped] = field(default_factory=dict)  # arms that are left out, by label
    unmade: dict[str, str] = field(default_factory=dict)  # errors of the setup, by values
    failed: BaseException | None = None  # the first error of all

    def compare(self, at: tuple[str, ...], compare: Callable[[], Comparison]) -> Comparison:
        """Compare arms at one point; an arm that fails may do better at the next one."""
        __tracebackhide__ = True
        try:
            compared = compare()
        except ArmFailedError as ended:
            self.failed = self.failed or ended.error
            compared = cast(Comparison, ended.result)
        except Interrupted as ended:
            self.points.append(Point(at, cast(Comparison, ended.result)))
            raise
        # What a point would take alone is no advice for the whole sweep.
        kept = tuple(note for note in compared.notes if note.code not in notes.UNDECIDED)
        compared = dataclasses.replace(compared, notes=kept)
        self.points.append(Point(at, compared))
        return compared

    def fail(self, at: tuple[str, ...], error: BaseException) -> None:
        """Remember that the setup failed at a point."""
        self.failed = self.failed or error
        self.unmade[", ".join(at)] = describe_error(error)

    def skip(self, arms: Iterable[Skipped]) -> None:
        """Leave arms out from now on."""
        for one in arms:
            self.skipped.setdefault(one.label, one)

    def sweep(self) -> Sweep:
        """Return the result."""
        left_out = tuple(self.skipped.values())
        return Sweep(self.names, self.labels, tuple(self.points), left_out, self.planned,
                     self.unmade)  # fmt: skip

    def raise_what_failed(self, *, keep_going: bool) -> None:
        """Raise the first error of all, if it is not to be passed over."""
        __tracebackhide__ = True
        if self.failed is None:
            return
        if not self.points:
            raise self.failed
        if not keep_going or not any(s.measured for p in self.points for s in p.compared.sides):
            raise ArmFailedError(self.sweep(), self.failed) from None


def _options_per_point(
    options: CompareOptions, arms: int, points: int
) -> tuple[float, CompareOptions]:
    """Return the seconds for each point, and the options with which arms are compared there."""
    budget = options.seconds_for(arms) * _BUDGET_SHARE_PER_POINT
    if options.budget is not None:
        budget = options.budget / points
    if options.samples is not None:
        return budget, options  # the number of samples says when it ends
    return budget, dataclasses.replace(options, budget=budget)


def _refuse(parts: Sequence[Snippet], swept: Mapping[str, Sequence[Any]]) -> None:
    used = {name for part in parts for name in part.reads}
    for name, values in swept.items():
        typed = by_caller(f"--sweep {name}", f"sweep={{{name!r}: ...}}")
        if name not in used:
            raise OptionError(f"{typed}: no arm or setup uses {name}")
        _refuse_repeated(typed, values)
    count = math.prod(map(len, swept.values()))
    if count > _MAX_POINTS:
        raise OptionError(f"{count:,} points are too many: a sweep has at most {_MAX_POINTS}")


def _refuse_repeated(typed: str, values: Sequence[Any]) -> None:
    """Refuse a value that comes twice: nothing would tell its two points apart."""
    known: set[object] = set()
    for value in values:
        identity = (type(value), repr(value)) if _is_plain(value) else id(value)
        if identity in known:
            shown = repr(value) if _is_plain(value) else name_of(value) or "one value"
            raise OptionError(
                f"{typed}: {shown} appears twice. Values must be unique: leave one of them out"
            )
        known.add(identity)


def _is_plain(value: object) -> bool:
    parts = value if type(value) is tuple else ()
    return type(value) in _PLAIN and all(map(_is_plain, parts))


def _too_slow(compared: Comparison, values: tuple[str, ...], budget: float) -> Iterator[Skipped]:
    """Name the arms of which the next point would pass the budget."""
    for arm in compared.sides:
        m = arm.measured
        if m is not None and m.median > budget:
            yield Skipped(arm.label, values, m.median, budget)


def _too_large(sweep: Sweep, following: Sequence[object]) -> Iterator[Skipped]:
    """Name the arms whose arrays would not fit at the next point, growing as up to here."""
    last = sweep.points[-1]
    value = number(str(following[0])) if len(sweep.names) == 1 else math.nan
    for arm in last.compared.sides:
        sizes = sweep.sizes(arm.label)[-2:]
        if len(sizes) < 2 or arm.measured is None:
            continue
        (x1, before), (x2, now) = sizes
        if not (x1 < x2 < value and 0 < before < now):
            continue
        power = math.log(now / before) / math.log(x2 / x1)
        needed = now * (value / x2) ** power
        in_play = [f for f in loaded()[0] if f.name in arm.measured.frameworks]
        free = min((f.free_memory() for f in in_play), default=math.inf)
        if needed * len(last.compared.sides) > free:
            yield Skipped(arm.label, last.values, needed=int(needed), free=int(free))
