"""The benchmark's expressions on this device run as they are typed, and with waiting by hand."""

import pytest

from tests.accuracy.case import Case
from tests.accuracy.cases.background import BACKGROUND


@pytest.mark.parametrize("case", BACKGROUND, ids=lambda case: case.name)
def test_an_expression_runs(case: Case) -> None:
    names = case.names()
    for code in (case.typed, case.truth):
        exec(code, names)
