"""Whether a comparison calls equal code equal, and finds a difference that is there."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence

from ipyjaxbench import ratios
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.accuracy.section import Column, Row, Section, reached

_PAIRS, _TRIALS = 40, 12  # pairs in a trial; trials of each framework in a round
_SECONDS = 3.0  # one recording
_FALSE, _FOUND = 0.03, 0.95
_T95 = 1.991  # two-sided 95 % point of Student's t with 78 degrees of freedom

#: A tenth more of the same work, waited for by hand in each turn.
ARMS = {
    "first": "for _ in range(10): work()",
    "again": "for _ in range(10): work()",
    "more": "for _ in range(11): work()",
}
SETUP = {
    "python": "xs = list(range(2000))[::-1]\ndef work(): return sorted(xs)",
    "numpy": "import numpy as np\nx = np.random.rand(200, 200)\ndef work(): return x @ x",
    "jax": (
        "import jax, jax.numpy as jnp\nx = jnp.ones((200, 200))\nf = jax.jit(lambda x: x @ x)\n"
        "def work(): return f(x).block_until_ready()"
    ),
}


def _ours(base: Sequence[float], other: Sequence[float]) -> bool:
    found, itself = ratios.ratio(ratios.log_ratios(base, other)), ratios.against_itself(base)
    if found is None or itself is None or found.verdict not in ("FASTER", "SLOWER"):
        return False
    return abs(math.log(found.value)) >= ratios.floor(itself)


def _disjoint(base: Sequence[float], other: Sequence[float]) -> bool:
    (low, high) = sorted((statistics.mean(s), statistics.pstdev(s)) for s in (base, other))
    return low[0] + low[1] < high[0] - high[1]


def _welch(base: Sequence[float], other: Sequence[float]) -> bool:
    spread = math.hypot(*(statistics.stdev(s) / math.sqrt(len(s)) for s in (base, other)))
    return abs(statistics.mean(base) - statistics.mean(other)) > _T95 * spread


_RULES: dict[str, Callable[[Sequence[float], Sequence[float]], bool]] = {
    "ours": _ours,
    "mean ± sd apart": _disjoint,
    "t-test": _welch,
}


def _trials(group: str, wanted: int) -> Iterator[dict[str, list[float]]]:
    """Consecutive pairs of one recording after the other."""
    names: dict[str, object] = {"__name__": "case"}
    exec(SETUP[group], names)
    while wanted > 0:
        entries = [
            ArmSpec(label, Snippet(Source.plain(code), names)) for label, code in ARMS.items()
        ]
        options = CompareOptions(budget=_SECONDS, aim="precise")
        found = compare_snippets(entries, options)
        samples = {label: found[label].samples for label in ARMS}
        whole = min(map(len, samples.values())) // _PAIRS
        for i in range(min(whole, wanted)):
            part = slice(i * _PAIRS, (i + 1) * _PAIRS)
            yield {label: list(s[part]) for label, s in samples.items()}
        wanted -= max(whole, 1)


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each rule."""
    trials = list(_trials(group, _TRIALS * rounds))
    for name, rule in _RULES.items():
        yield {
            "group": group,
            "name": name,
            "trials": len(trials),
            "false": sum(rule(t["first"], t["again"]) for t in trials),
            "found": sum(rule(t["first"], t["more"]) for t in trials),
        }


def by_name(rows: Sequence[Row]) -> Iterator[tuple[str, int, int, int]]:
    """For each name its trials, those with a false alarm, and those that found more work."""
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        yield name, *(sum(row[key] for row in mine) for key in ("trials", "false", "found"))


def columns(trials: str, false: str, found: str) -> tuple[Column, ...]:
    """Those of trials, false alarms and what was found, with what each means."""
    return (
        Column("trials", 6, trials, "{trials}"),
        Column("false alarms", 12, false, lambda r: _share(r, "false")),
        Column("found", 10, found, lambda r: _share(r, "found")),
    )


def _share(row: Row, key: str) -> str:
    return f"{row[key]} ({row[key] / row['trials']:.0%})"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for name, trials, false, found in by_name(rows):
        words = f"{name}: {false} of {trials} equal pairs called different, {false / trials:.0%};"
        words += f" a tenth more found in {found}, {found / trials:.0%}"
        if name == "ours":
            is_met = false <= _FALSE * trials and found >= _FOUND * trials
            words += f". At most {_FALSE:.0%} and at least {_FOUND:.0%} wanted: "
            words += reached(is_met)
        yield f"{words}."


VERDICTS = Section(
    name="verdicts",
    title="Are equal things called equal?",
    method=(
        "The same code twice, and a tenth more of it, sampled in turns as `%%fwcompare` does."
        f" The samples are cut into trials of {_PAIRS} pairs. Each rule judges the same ones."
    ),
    columns=columns(
        "of each kind",
        "trials in which the same code was called different",
        "trials in which a tenth more work was found",
    ),
    summary=_summary,
    measure=measure,
    groups=tuple(SETUP),
)
