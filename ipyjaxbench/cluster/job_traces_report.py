"""How the traces of all ranks are shown: in what they differ, a row for each, one in full."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.cluster.call_profile import WORDS, DifferingCall, cost_of
from ipyjaxbench.cluster.job_traces import JobTraces
from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.reports import Block, Details, Facts, Footer, Headline, Report, Table, report
from ipyjaxbench.retracing import describe_changes

_MAX_ROWS = 12
_MAX_NAME = 22  # letters of the names of ranks
_COLUMNS = tuple(dict.fromkeys(WORDS.values()))


@report.register
def _(job: JobTraces) -> Report:
    """Return the blocks in the order in which they are read."""
    differing = next(iter(job.differing), None)
    blocks: list[Block] = [_headline(job, differing)]
    if facts := tuple(_facts(job, differing)):
        blocks.append(Facts(facts))
    if any(profile.made for profile in job.profiles):
        blocks.append(_table(job))
        blocks += _full(job, job.shown)
    hosts = units.count(len({rank.host for rank in job.ranks}), "host")
    versions = {name: v for _, traces in job.answering for name, v in traces.frameworks.items()}
    return Report((*blocks, Footer((hosts, units.versions(versions)))))


def _headline(job: JobTraces, differing: DifferingCall | None) -> Headline:
    title, verdict = units.heading(job.code), "INTERRUPTED" if job.interrupted else ""
    is_called = any(profile.made for profile in job.profiles)
    counts = _counts(job) if is_called else "no compiled function was called"
    if job.failed:
        kinds = dict.fromkeys(job.answering[place][1].error.split(":")[0] for place in job.failed)
        figure = f"{_name(job, job.failed)} raised {' or '.join(kinds)}"
        return Headline(title, figure, counts, "RAISED", "")
    if differing is None:
        return Headline(title, counts, f"in {_everyone(job)}", verdict, "")
    (word, places), *others = differing.groups
    rest = [f"{_others(job, own)} {differing.deed(each, named=False)}" for each, own in others]
    if not word:  # they did not make the call: whatever became of it in the others
        rest = [f"{_others(job, own)} did" for _, own in others]
    figure = f"{_name(job, places)} {differing.deed(word)}"
    return Headline(title, figure, "; ".join(rest), verdict, "")


def _counts(job: JobTraces) -> str:
    """Return how many calls were traced and how many cached, in each rank."""
    ranges = {word: [profile.counts[word] for profile in job.profiles] for word in _COLUMNS}
    return ", ".join(
        " to ".join(dict.fromkeys(f"{end(counts):,}" for end in (min, max))) + f" {word}"
        for word, counts in ranges.items()
        if any(counts)
    )


def _others(job: JobTraces, places: Sequence[int]) -> str:
    """Return who fared otherwise than the first: all others in a word, or by name."""
    most = 1 < len(places) >= len(job.answering) / 2
    return "the others" if most else _name(job, places)


def _facts(job: JobTraces, differing: DifferingCall | None) -> Iterator[tuple[str, str]]:
    if differing is not None:
        yield from _difference(job, differing)
    more = len(job.differing) - 1
    if more > 0:
        yield "later", f"{units.count(more, 'more call')} {'differs' if more == 1 else 'differ'}"
    yield from _endings(job)


def _endings(job: JobTraces) -> Iterator[tuple[str, str]]:
    """Say in which ranks the code ended early, and which did not answer."""
    if job.interrupted:
        kinds = {profile.key for profile in job.profiles}
        yield "interrupted", _name(job, job.interrupted)
        if job.job and len(kinds) > 1:
            words = "ranks ended at different calls, and their next collectives may not match"
            yield "!", f"{words}: restart the engines if a call hangs"
    errors: dict[str, list[int]] = {}
    for place in job.failed:
        errors.setdefault(job.answering[place][1].error, []).append(place)
    for error, places in errors.items():
        yield "raised", f"{_name(job, places)}: {error}"
    silent: dict[str, list[str]] = {}
    for rank in job.ranks:
        if rank.silent:
            silent.setdefault(rank.silent, []).append(rank.label)
    for reason, labels in silent.items():
        yield "no answer", f"{name_ranks(labels)} {reason}"


def _difference(job: JobTraces, differing: DifferingCall) -> Iterator[tuple[str, str]]:
    """Say why the rank to look into was not like the others, and what that costs them."""
    rank, _ = job.answering[differing.shown]
    call = job.profiles[differing.shown].calls.get(differing.key)
    if call is None:
        return
    where = f"{rank.label}, call {differing.number:,} of {differing.function}"
    if why := describe_changes(call.why) or call.says:
        yield "reason", f"{where}: {why}"
    if seconds := cost_of(call):
        waiting = "; ranks that need its result wait for it" if job.job else ""
        yield "cost", f"{units.duration(seconds)} for tracing and compiling{waiting}"


def _table(job: JobTraces) -> Table:
    """Return a row for ranks of one host that are alike; of very many, for those of all hosts."""
    by_host: dict[tuple[object, str], list[int]] = {}
    for place, (rank, _) in enumerate(job.answering):
        by_host.setdefault((job.profiles[place].key, rank.host), []).append(place)
    groups = [*by_host.values()]
    if len(groups) > _MAX_ROWS:
        alike: dict[object, list[int]] = {}
        for (kind, _), places in by_host.items():
            alike.setdefault(kind, []).extend(places)
        groups = sorted(alike.values(), key=len)  # those that differ first
    caption = ""
    if len(groups) > _MAX_ROWS:
        caption = f"{_MAX_ROWS} of {len(groups):,} kinds of ranks, the rarest first"
    words = [word for word in _COLUMNS if any(p.counts[word] for p in job.profiles)]
    head: tuple[str, ...] = ("", "host", "calls", *words, "tracing, compiling")
    rows = tuple(_row(job, places, words) for places in groups[:_MAX_ROWS])
    if not any(profile.seconds for profile in job.profiles):
        head, rows = head[:-1], tuple(row[:-1] for row in rows)
    return Table(caption, head, rows, folded=False)


def _row(job: JobTraces, places: Sequence[int], words: Sequence[str]) -> tuple[str, ...]:
    profile = job.profiles[places[0]]
    hosts = [*dict.fromkeys(job.answering[place][0].host for place in places)]
    spent = [job.profiles[place].seconds for place in places]
    cost = " to ".join(dict.fromkeys(units.duration(end(spent), 2) for end in (min, max)))
    return (
        _name(job, places),
        hosts[0] if len(hosts) == 1 else units.count(len(hosts), "host"),
        f"{sum(profile.counts.values()):,}",
        *(f"{profile.counts[word]:,}" for word in words),
        cost if any(spent) else "0",
    )


def _full(job: JobTraces, place: int) -> Iterator[Block]:
    """Yield the report of one rank, folded; its headline as a line with the name of the rank."""
    rank, traces = job.answering[place]
    headline, *rest = report(traces).blocks
    assert isinstance(headline, Headline)
    said = Facts((("in full", f"{rank.label}: {headline.figure}, {headline.detail}"),))
    blocks = [_untold(block) for block in rest if not isinstance(block, Footer)]
    yield Details(f"{rank.label}: {units.count(traces.count, 'call')}", (said, *blocks))


def _untold(block: Block) -> Block:
    """Return a block of a rank without what is told of all ranks above."""
    if not isinstance(block, Facts):
        return block
    return Facts(tuple(row for row in block.rows if row[0] != "raised"))


def _name(job: JobTraces, places: Sequence[int]) -> str:
    """Return ranks by their numbers; where these are scattered, how many they are."""
    labels = [job.answering[place][0].label for place in places]
    named = name_ranks(labels)
    if len(named) <= _MAX_NAME:
        return named
    return f"{labels[0]} and {units.count(len(labels) - 1, 'other')}"


def _everyone(job: JobTraces) -> str:
    """Return those that answered, in words: how many they are, or the only one."""
    if len(job.answering) == 1:
        return job.answering[0][0].label
    kind = job.ranks[0].label.rpartition(" ")[0] or "rank"
    return f"each of {units.count(len(job.answering), kind)}"
