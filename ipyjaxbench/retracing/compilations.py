"""Calls that frameworks tell of, where nobody looked at them."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.retracing.trace_log import News
from ipyjaxbench.retracing.traces import TracedCall


def of_news(news: Sequence[News]) -> tuple[TracedCall, ...]:
    """What was traced or compiled, a line for each; what it took is what compiling took."""
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for each in news:
        key = (each.framework, each.name)
        numbers[key] = numbers.get(key, 0) + 1
        phases = dict(each.miss.phases)
        found.append(
            TracedCall(
                name=each.name,
                framework=each.framework,
                line=each.miss.line,
                text=each.miss.text,
                number=numbers[key],
                times=1,
                state="RECOMPILED" if each.miss.placed else "TRACED",
                seconds=sum(phases.values()),
                phases=phases,
                why=each.why,
            )
        )
    return tuple(found)


def too_many(calls: Sequence[TracedCall], most: int) -> TooManyTracesError:
    """The error that says which calls were too many, and why.

    Args:
        calls: those that were too many, the first one first.
        most: how many there may be.
    """
    first = calls[0]
    words = "; ".join(change.words() for change in first.why) or "the reason is not known"
    where = f" in line {first.line}" if first.line else ""
    more = f" and {len(calls) - 1} more" if len(calls) > 1 else ""
    return TooManyTracesError(
        f"{first.name}{where} was {first.state.lower()} ({words}){more}, and"
        f" {units.count(most, 'trace')} may happen"
    )
