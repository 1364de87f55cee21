"""Finds what two runs of a notebook have both measured."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike

from ipyjaxbench.errors import RecordError, short_errors
from ipyjaxbench.records.entry import find_measurements
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.records.notebook_diff import Pair, Rerun
from ipyjaxbench.records.notebooks import NotebookRecords, Saved, read_notebook
from ipyjaxbench.reports import Headline, Result
from ipyjaxbench.timing import Measurement, summarize_samples as summarize
from ipyjaxbench.usercode import first_line
from ipyjaxbench.validation import kept_name


@dataclass(frozen=True)
class _Timed:
    """One measurement in a notebook.

    Attributes:
        saved: the record that it is from.
        label: its name, or its arm's with what was swept; empty where it has none.
        measured: what was found.
        turn: how many of the same code and label stand above it in the notebook.
        place: how many of the same label stand above it in the cell.
    """

    saved: Saved
    label: str
    measured: Measurement
    turn: int
    place: int

    @property
    def name(self) -> str:
        return self.label or first_line(self.measured.code)


_Key = Callable[[_Timed], Hashable]


def _same_cell(t: _Timed) -> Hashable:
    return t.saved.cell_id and (t.saved.cell_id, t.saved.source, t.label, t.place)


def _same_source(t: _Timed) -> Hashable:
    return (t.saved.source, t.measured.code, t.label, t.turn)


def _edited_cell(t: _Timed) -> Hashable:
    return t.saved.cell_id and (t.saved.cell_id, t.label, t.place)


def _same_name(t: _Timed) -> Hashable:
    return t.label and (t.label, t.place)


#: By which two measurements are the same one, the surest first.
_KEYS: tuple[_Key, ...] = (_same_cell, _same_source, _edited_cell, _same_name)


@short_errors
def compare_notebooks(
    before: str | PathLike[str] | NotebookRecords, after: str | PathLike[str] | NotebookRecords
) -> Rerun:
    """Compare two runs of the same notebook, measurement by measurement.

    A measurement counts as slower or faster by the rule of ``%fwcompare before after``: the whole
    interval of the ratio is beyond 1 %.

    Args:
        before: the first run: a path, or what `read_notebook` returned.
        after: the second run.

    Returns:
        The pairs with their ratios, what changed around them, and what has no partner.

    Raises:
        RecordError: one of them is not a notebook, or they have no measurement in common.

    Example:
        >>> # compare_notebooks("a.ipynb", "b.ipynb").slower
    """
    both = [n if isinstance(n, NotebookRecords) else read_notebook(n) for n in (before, after)]
    first, second = (list(_timed(notebook)) for notebook in both)
    for notebook, timed in zip(both, (first, second), strict=True):
        if not timed:
            raise RecordError(
                f"{notebook.path} holds no measurements. Run %fwtime or %%fwcompare in it, then"
                " save it."
            )
    pairs = _match(first, second)
    if not pairs:
        raise RecordError(
            f"{both[0].path} and {both[1].path} have no measurement in common: no cell, code or"
            " name matches"
        )
    alone = [[t.name for t in timed if not any(t in pair for pair in pairs)]
             for timed in (first, second)]  # fmt: skip
    return Rerun(
        before=both[0].path,
        after=both[1].path,
        pairs=tuple(_pair(one, other) for one, other in pairs),
        differs=_differences(pairs, both[0].python, both[1].python),
        only_before=tuple(alone[0]),
        only_after=tuple(alone[1]),
        refused=sum(len(notebook.refused) for notebook in both),
    )


def _timed(notebook: NotebookRecords) -> Iterator[_Timed]:
    turns: Counter[Hashable] = Counter()
    places: Counter[Hashable] = Counter()
    earlier: dict[Headline | None, list[Result]] = {}
    for saved in notebook:
        if saved.result in (alike := earlier.setdefault(saved.headline, [])):
            continue  # it is shown again, as ``r`` below ``r = %fwtime f(x)`` does
        alike.append(saved.result)
        for name, at, m in find_measurements(saved.result, saved.name):
            label = kept_name(name, **at)
            turn, place = (saved.source, m.code, label), (saved.cell, label)
            yield _Timed(saved, label, m, turns[turn], places[place])
            turns[turn] += 1
            places[place] += 1


def _match(before: Sequence[_Timed], after: Sequence[_Timed]) -> list[tuple[_Timed, _Timed]]:
    """Return what is the same in both, in the order of the second."""
    left, partners = list(before), dict[int, _Timed]()
    for key in _KEYS:
        by_key: dict[Hashable, _Timed] = {}
        for timed in left:
            if key(timed):
                by_key.setdefault(key(timed), timed)
        for index, timed in enumerate(after):
            if index not in partners and (partner := by_key.pop(key(timed), None)) is not None:
                partners[index] = partner
        taken = {id(partner) for partner in partners.values()}
        left = [timed for timed in left if id(timed) not in taken]
    return [(partners[index], timed) for index, timed in enumerate(after) if index in partners]


def _pair(before: _Timed, after: _Timed) -> Pair:
    return Pair(
        name=after.name,
        cell=after.saved.cell,
        before=summarize(before.measured),
        after=summarize(after.measured),
        edited=before.measured.code != after.measured.code,
    )


def _differences(
    pairs: Sequence[tuple[_Timed, _Timed]], before: str, after: str
) -> tuple[str, ...]:
    """Return what differs around any pair, each once."""
    differences = (
        difference
        for one, other in pairs
        for difference in Environment.saved(one.measured, before).differences(
            Environment.saved(other.measured, after)
        )
    )
    return tuple(dict.fromkeys(differences))
