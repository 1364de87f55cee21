"""Whether another tool does better on the same text."""

import math
import statistics
from collections.abc import Iterator, Sequence

from tests.accuracy import peer_looks
from tests.accuracy.case import Case
from tests.accuracy.cases import GROUPS
from tests.accuracy.looks import truth
from tests.accuracy.section import Column, Row, Section, names_of

_NOISE = math.log(1.05)


def better(row: Row) -> list[str]:
    """The peers that are nearer to the truth than we are, by more than the noise."""
    ours = [abs(math.log(ratio)) for ratio in row["ours"]]
    middle = abs(math.log(statistics.median(row["ours"])))
    found = []
    for peer, look in row["peers"].items():
        if look is None or not look["ratio"] > 0:  # not here, or it fails
            continue
        theirs = abs(math.log(look["ratio"]))
        if middle > theirs + _NOISE and min(ours) > theirs:
            found.append(peer)
    return found


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each expression of a framework; one look at each peer."""
    peer_looks.start()
    for case in GROUPS[group]:
        row = {"group": group, "name": case.name}
        try:
            yield {**row, "peers": _looked_at(case)}
        except Exception as error:
            yield {**row, "left_out": f"{type(error).__name__}: {error}".splitlines()[0][:100]}


def _looked_at(case: Case) -> dict[str, Row | None]:
    names = case.names()

    def true() -> float:
        if case.first:
            case.prepare(names)
        return truth(case, names)

    if not case.first:
        truth(case, names)
    before, looks = true(), {}
    for peer in peer_looks.PEERS:
        if case.first:
            case.prepare(names)
        look, after = peer_looks.look_of(peer, case, names), true()
        ratio = look and look.figure / statistics.mean((before, after))
        looks[peer] = look and {"ratio": ratio, "spent": look.spent}
        before = after
    return looks


def _shown(look: Row | None) -> str:
    if look is None:
        return "-"
    return "fails" if math.isnan(look["ratio"]) else f"{look['ratio']:.2f}"


def _nearer(row: Row) -> str:
    found = ", ".join(better(row))
    return f"{found}: {row['why']}" if found and row["why"] else found or "none"


def _column(peer: str, meaning: str) -> Column:
    return Column(peer, 8, meaning, lambda row: _shown(row["peers"][peer]))


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    beaten = [row for row in rows if better(row)]
    yield (
        f"A peer is nearer to the truth on {len(beaten)} of {len(rows)} expressions:"
        f" {names_of(beaten)}."
    )
    for peer in peer_looks.PEERS:
        looks = [row["peers"][peer] for row in rows if row["peers"][peer]]
        off = [look for look in looks if not 0.5 <= look["ratio"] <= 2]
        yield f"{peer} fails, or is off by more than a factor of two: {len(off)} of {len(looks)}."


PEERS = Section(
    name="peers",
    title="Does another tool do better?",
    method=(
        "Each tool gets the text that the user types, with no waiting written into it, and its"
        " own defaults. A first call is asked of each as its users would: one call. Each makes"
        " one measurement of an expression, with the truth before and after it. A peer is nearer to"
        " the truth if our error, as the logarithm of the ratio, is larger than its error by more"
        " than 5 % and was larger in every round."
    ),
    columns=(
        Column("ours", 6, "our figure divided by the truth, from the table above",
               lambda r: f"{statistics.median(r['ours']):.2f}"),
        _column("%timeit", "mean of 7 runs, divided by the truth"),
        _column("%time", "the wall time of one call"),
        _column("timeit", "best of 5 runs, as `python -m timeit` prints it"),
        _column("Timer", "median of `torch.utils.benchmark.Timer`, which sets one thread"),
        Column("nearer", 8, "the tools that are nearer to the truth, and why where that is known",
               _nearer),
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(GROUPS),
    needs="truth",
)  # fmt: skip
