"""The counts in which two programs differ, as a table."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.graphs.program_changes import ProgramChange
from ipyjaxbench.reports import Table

_MOST_ROWS = 20
_MAX_NAME = 40  # letters


def change_tables(
    changes: Sequence[ProgramChange], caption: str = "what differs"
) -> Iterator[Table]:
    """Yield one table, those of the first kinds on top; none where nothing differs."""
    if not changes:
        return
    rows = [
        (
            units.cut(each.label, _MAX_NAME),
            _amount(each, each.before),
            _amount(each, each.now),
            _difference(each),
        )
        for each in changes[:_MOST_ROWS]
    ]
    hidden = len(changes) - len(rows)
    more = f"; {units.count(hidden, 'smaller difference')} left out" if hidden > 0 else ""
    yield Table(f"{caption}{more}", ("", "before", "now", "change"), tuple(rows), folded=False)


def _amount(change: ProgramChange, amount: int) -> str:
    return units.size(amount) if change.kind == "bytes" else f"{amount:,}"


def _difference(change: ProgramChange) -> str:
    sign = "+" if change.now > change.before else "−"
    return f"{sign}{_amount(change, abs(change.now - change.before))}"
