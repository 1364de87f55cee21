"""Whether whole comparisons call equal code equal while other programs keep the machine busy."""

from collections.abc import Iterator, Sequence

from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.accuracy.load import busy
from tests.accuracy.section import Row, Section, reached
from tests.accuracy.sections.verdicts import ARMS, SETUP, by_name, columns

_LOADS, _TRIALS, _SECONDS = (0, 5, 16), 12, 2.0  # programs; comparisons of each in a round
_FALSE = 0.01


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each load."""
    names: dict[str, object] = {"__name__": "case"}
    exec(SETUP[group], names)
    for load in _LOADS:
        words = []
        with busy(load):
            for _ in range(_TRIALS * rounds):
                arms = [ArmSpec(n, Snippet(Source.plain(c), names)) for n, c in ARMS.items()]
                found = compare_snippets(arms, CompareOptions(budget=_SECONDS))
                words.append((found.verdict("again"), found.verdict("more")))
        yield {
            "group": group,
            "name": f"{load} other programs",
            "trials": len(words),
            "false": sum(again in ("FASTER", "SLOWER") for again, _ in words),
            "found": sum(more == "SLOWER" for _, more in words),
        }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for name, trials, false, found in by_name(rows):
        words = f"{name}: {false} of {trials} called equal code different; a tenth more found in"
        words += f" {found}. At most {_FALSE:.0%} of false alarms wanted:"
        yield f"{words} {reached(false <= max(_FALSE * trials, 1))}."


EQUAL = Section(
    name="equal",
    title="Are equal things called equal on a busy machine?",
    method=(
        "`%%fwcompare` of the same code twice and a tenth more of it, as a whole, while other"
        f" programs compute; {_SECONDS:g} s for each comparison."
    ),
    columns=columns(
        "comparisons", "of these called the same code different", "of these found a tenth more work"
    ),
    summary=_summary,
    measure=measure,
    groups=("python", "jax"),
)
