"""Results are saved as records, and read back with suspicion."""

import json
import math
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks.compilation import Program
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.reports.result import MIME, Reported, Result, report
from ipyjaxbench.timing.compile_cost import ColdCallResult, Counterpart
from ipyjaxbench.timing.measurement import Measurement
from tests.results import STEADY, measured

TIMES, TEXTS, COUNTS = st.floats(0, 1e6), st.text(max_size=8), st.integers(1, 10**9)
SHAPES = st.none() | st.tuples(COUNTS, COUNTS)
PLACES = st.builds(Placement, *[TEXTS, TEXTS, COUNTS, TEXTS, SHAPES, st.tuples(TEXTS), COUNTS])
PHASES = st.dictionaries(TEXTS, st.none() | TIMES, max_size=2)
ORIGINS = st.sampled_from(["compiled", "disk cache", "traced"])
PROGRAMS = st.tuples(st.builds(Program, TEXTS, st.none() | TIMES, ORIGINS, TEXTS))
COLD = st.builds(ColdCallResult, st.none() | TIMES, PHASES, PROGRAMS, st.tuples(TEXTS))
MEASURED = st.builds(
    Measurement,
    code=TEXTS, frameworks=st.dictionaries(TEXTS, TEXTS, max_size=2), first_call=TIMES,
    phases=PHASES, compilations=st.none() | COUNTS, loops=COUNTS,
    batches=st.tuples(st.tuples(COUNTS, COUNTS), st.tuples(COUNTS, COUNTS)),
    rounds=st.sampled_from([(2,), (1, 1), (0, 2), (1, 0, 1)]), exact=st.booleans(),
    inputs=st.tuples(PLACES), outputs=st.tuples(PLACES),
    notes=st.tuples(st.builds(Note, *[TEXTS] * 4)), compile_time=TIMES, elapsed=TIMES,
    precision=st.integers(1, 15), programs=PROGRAMS, fresh=st.none() | COLD,
    counterpart=st.none() | st.builds(Counterpart, st.booleans(), TIMES, st.none() | TIMES, TIMES),
)  # fmt: skip


@given(MEASURED)
def test_what_was_saved_as_json_is_read_back_equal(m: Measurement) -> None:
    assert Measurement.from_dict(json.loads(json.dumps(m.to_dict()))) == m


def test_a_notebook_keeps_text_and_html_and_the_record() -> None:
    m = measured(STEADY)
    assert m._repr_mimebundle_().keys() == {"text/plain", "text/html", MIME}
    assert m._repr_mimebundle_()[MIME] == m.to_dict()
    assert Result().check() is None  # facts that nobody checks contradict nothing


ROUNDS = "the record makes no sense: the rounds do not add up to the samples"
OTHER_SCHEMA = "this version reads schema 1: update ipyjaxbench, or measure again"


def expected(number: str, where: str) -> str:
    return f"the record is damaged: Expected {number} - at `$.{where}`"


WRONG_FACTS = [
    ({"first_call": -1.0}, expected("`float` >= 0.0", "first_call")),
    ({"first_call": math.nan}, expected("`float` >= 0.0", "first_call")),
    ({"elapsed": math.inf}, expected("`float` <= 1.7976931348623157e+308", "elapsed")),
    ({"phases": {"trace": math.nan}}, expected("`float` >= 0.0", "phases[...]")),
    ({"batches": [[0, 1], [1, 1]]}, expected("`int` >= 1", "batches[0][0]")),
    ({"batches": [[1, -1], [1, 1]]}, expected("`int` >= 0", "batches[0][1]")),
    ({"rounds": [1]}, ROUNDS),
    ({"rounds": [3, -1]}, expected("`int` >= 0", "rounds[1]")),
    ({"precision": 16}, expected("`int` <= 15", "precision")),
    ({"loops": 2**63}, expected(f"`int` <= {2**63 - 1}", "loops")),
    ({"batches": [[1, 2**63], [1, 1]]}, expected(f"`int` <= {2**63 - 1}", "batches[0][1]")),
    ({"code": 1}, "the record is damaged: Expected `str`, got `int` - at `$.code`"),
    ({"loops": True}, "the record is damaged: Expected `int`, got `bool` - at `$.loops`"),
]
WRONG_RECORDS = [
    ([], "a record is a dictionary, not list"),
    (None, "a record is a dictionary, not NoneType"),
    ({}, f"the record has schema None and {OTHER_SCHEMA}"),
    ({"schema": 2}, f"the record has schema 2 and {OTHER_SCHEMA}"),
    ({"schema": 1, "kind": "graph"}, "the record holds a 'graph', not a 'measurement'"),
    ({"schema": 1, "kind": "measurement"}, "the record is damaged: Expected `object`, got `null`"),
]
WRONG_RECORDS += [
    ({"schema": 1, "kind": "measurement", "facts": measured([1, 1]).to_dict()["facts"] | f}, text)
    for f, text in WRONG_FACTS
]


@pytest.mark.parametrize(("record", "message"), WRONG_RECORDS)
def test_a_record_that_cannot_be_true_is_refused_in_one_line(record: Any, message: str) -> None:
    with pytest.raises(RecordError) as raised:
        Measurement.from_dict(record)
    assert str(raised.value) == message


class Unregistered(Reported):
    """A result whose module of reports registers none."""


def test_a_result_without_a_report_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"{__name__}_report", ModuleType("empty"))
    with pytest.raises(TypeError, match=r"^no report is registered for Unregistered$"):
        report(Unregistered())
