"""The report of a measurement: headline first, then pictures, facts, notes and a footer."""

from ipyjaxbench import units
from ipyjaxbench.frameworks import Placement
from ipyjaxbench.reports import (
    CHANGES_MEANING,
    Block,
    Facts,
    Footer,
    Headline,
    Note,
    Notes,
    Report,
    report,
)
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.measurement_facts import list_facts
from ipyjaxbench.timing.measurement_pictures import (
    draw_distribution,
    draw_first_call,
    draw_roofline,
    fold_distribution,
    list_changes,
    list_compilation,
    list_operations,
)
from ipyjaxbench.timing.verdict import VERDICT_MEANINGS, leaves_no_figure
from ipyjaxbench.usercode import first_line

_MAX_PLACES = 4


@report.register
def _(m: Measurement) -> Report:
    """The blocks in the order in which they are read."""
    first_call = [*draw_first_call(m)]
    facts = Facts(tuple(list_facts(m, is_drawn=bool(first_call))))
    pictures: list[Block] = [*first_call, *draw_distribution(m)]
    details: list[Block] = [*draw_roofline(m), *list_operations(m), *list_changes(m)]
    details += fold_distribution(m)
    figures = [*pictures, facts, *list_compilation(m), *details]
    notes = Notes(tuple(sorted(m.notes, key=_importance)))
    # Where the figure cannot be believed the reason comes first.
    is_wrong = m.verdict in ("RECOMPILES", "INVALID")
    rest = [notes, *figures] if is_wrong else [*figures, notes]
    return Report((_headline(m), *rest, _footer(m)))


def _importance(note: Note) -> tuple[bool, bool, bool, bool]:
    """Sort what leaves no figure first, then what is another code's, then by mark and advice."""
    is_marked, is_own = note.mark == CHANGES_MEANING, note.code != "stale-program"
    return not leaves_no_figure(note.code), is_own, not is_marked, not note.advice


def _headline(m: Measurement) -> Headline:
    word = m.verdict
    figure, statistic = m.headline.apart(m.precision)
    each = "including the wait" if m.waited else "per call"
    if word == "RECOMPILES":
        each = "compiling"
    detail = f"{statistic}, {each}"
    if word == "ONCE" or (word == "INVALID" and len(m.samples) == 1):
        detail = _one_sample(m)
    elif word == "FEW":
        detail += f", {len(m.batches)} samples"
    if m.clock == "cpu":
        detail = f"CPU time, {detail}"
    return Headline(first_line(m.code), figure, detail, word, VERDICT_MEANINGS[word])


def _one_sample(m: Measurement) -> str:
    if not m.batches:
        return "first call, including compilation" if m.phases else "first call only"
    calls = m.batches[0][0]
    after = " after the first" if m.exact else ""
    if calls == 1:
        return "one sample, a warm call"
    return f"per call, one sample of {calls:,} calls{after}"


def _footer(m: Measurement) -> Footer:
    inputs, outputs = _places(m.inputs), _places(m.outputs)
    where = f"{inputs} → {outputs}".strip() if outputs else inputs
    return Footer((where, units.versions(m.frameworks)))


def _places(placements: tuple[Placement, ...]) -> str:
    shown = [placement.words() for placement in placements[:_MAX_PLACES]]
    if len(placements) > len(shown):
        shown.append(f"and {len(placements) - len(shown)} more")
    return ", ".join(shown)
