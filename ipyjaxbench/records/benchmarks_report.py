"""The report of the benchmarks of a test suite: what became slower, then each figure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ipyjaxbench import ratios, units
from ipyjaxbench.records.benchmark_change import BenchmarkChange
from ipyjaxbench.records.benchmarks import Benchmark, Benchmarks, has_no_figure
from ipyjaxbench.reports import Block, Facts, Headline, Report, Table, report
from ipyjaxbench.timing import name_column

_MAX_NAME = 32  # characters: a row stays on one line
_MAX_FACTS = 8
_ORDER = ("SLOWER", "INVALID", "ONCE", "CAN'T TELL", "NEW", "SAME", "FASTER")
_RULE = (
    "the ratio is that of medians, or of times relative to a loop between the calls, from which the"
    " CPU's speed falls out: the surer one. SLOWER and FASTER: its 95 % interval is beyond 1 %,"
    " corrected for the number of rows, the other ratio agrees, and the machine was as busy as"
    " before. No word: it may be chance"
)


@report.register
def _(b: Benchmarks) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(b)]
    if b.benchmarks:
        blocks.append(_table(b))
    facts = [*_facts(b)]
    return Report((*blocks, Facts(tuple(facts)))) if facts else Report(tuple(blocks))


def _headline(b: Benchmarks) -> Headline:
    total, counts = len(b.benchmarks), Counter(map(b.verdict, b.benchmarks))
    word = next((word for word in ("SLOWER", "FASTER") if counts[word]), "")
    since = "the last run" if b.against == "last" else b.against
    if word:
        figure, detail = f"{counts[word]} of {total} {word.lower()}", f"than {since}"
    elif b.against and counts["NEW"] < total:
        figure, detail = "no clear change", f"in {units.count(total, 'benchmark')} since {since}"
    else:
        figure, detail = units.count(total, "benchmark"), ""
    rest = [detail] if detail else []
    rest += [f"{counts['FASTER']} faster"] * (word == "SLOWER" and counts["FASTER"] > 0)
    if b.against and counts["NEW"]:
        rest.append(f"{counts['NEW']} new" if rest else f"nothing to compare with in {since}")
    if invalid := len(b.without_figure):
        rest.append(f"{invalid} without a figure")
    return Headline("", figure, ", ".join(rest), word, ratios.EXPLAINED.get(word, ""))


def _table(b: Benchmarks) -> Table:
    order = sorted(b.benchmarks, key=lambda each: _rank(b.verdict(each)))
    names = _short_names([each.entry.name for each in order])
    columns = {"name": names, **_changes(b, order)}
    times = name_column(each.entry.headline for each in order if not has_no_figure(each.entry))
    columns[times] = [_figure(each, times) for each in order]
    columns["verdict"] = [each.entry.figure.verdict for each in order]
    first_calls = [_first_call(each) for each in order]
    if any(first_calls):
        columns["first call"] = first_calls
    return Table("", tuple(columns), tuple(zip(*columns.values(), strict=True)), folded=False)


def _rank(word: str) -> int:
    return _ORDER.index(word) if word in _ORDER else 0


def _short_names(names: Sequence[str]) -> list[str]:
    """Return the names without their files, where that leaves them apart."""
    short = [name.rpartition("::")[2] if "[" not in name else _without_file(name) for name in names]
    chosen = names if len(set(short)) < len(set(names)) else short
    return [name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}" for name in chosen]


def _without_file(name: str) -> str:
    """Return ``test_f[a::b]`` for ``test_a.py::test_f[a::b]``: an id may have colons."""
    head, bracket, parameters = name.partition("[")
    return f"{head.rpartition('::')[2]}{bracket}{parameters}"


def _figure(benchmark: Benchmark, head: str) -> str:
    entry = benchmark.entry
    if has_no_figure(entry):
        return units.duration(entry.headline.value)
    return entry.headline.cell(head=head)


def _first_call(benchmark: Benchmark) -> str:
    """Return how long the first call took, where it is known what of that is compiling."""
    first = sum(benchmark.entry.first_call.values())
    return units.duration(first) if first else ""


def _changes(b: Benchmarks, order: Sequence[Benchmark]) -> dict[str, list[str]]:
    """Return the columns that say how each changed; none where nothing is compared."""
    if not any(each.base for each in b.benchmarks):
        return {}
    words = ["" if (word := b.verdict(each)) == "CAN'T TELL" else word for each in order]
    return {"ratio [95 % CI]": [_ratio(b.change(each)) for each in order], "": words}


def _ratio(change: BenchmarkChange | None) -> str:
    if change is None or change.ratio is None or has_no_figure(change.now):
        return ""
    return f"{change.ratio.words()} {change.ratio.interval()}"


def _facts(b: Benchmarks) -> Iterator[tuple[str, str]]:
    invalid = [each for each in b.without_figure if each.why]
    for each in invalid[:_MAX_FACTS]:
        name = _short_names([each.entry.name])[0]
        yield each.entry.figure.verdict, f"{name}: {each.why}"
    if not any(each.base for each in b.benchmarks):
        return
    changed = (d for each in b.benchmarks if each.base for d in each.base.differs)
    if differs := tuple(dict.fromkeys(changed)):
        yield "changed", " · ".join(differs[:_MAX_FACTS])
    doubts = Counter(
        change.doubt
        for each in b.benchmarks
        if (change := b.change(each)) and change.seeming == "SLOWER" and change.doubt
    )
    for doubt, count in doubts.most_common(_MAX_FACTS):
        looks = "looks" if count == 1 else "look"
        yield "undecided", f"{units.count(count, 'benchmark')} {looks} slower, but {doubt}"
    yield "rule", _RULE
