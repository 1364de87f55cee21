"""The benchmark's expressions on this platform run as they are typed, and with waiting by hand."""

import pytest

from tests.accuracy.case import Case
from tests.accuracy.cases.platform import PLATFORM


@pytest.mark.parametrize("case", PLATFORM, ids=lambda case: case.name)
def test_an_expression_runs(case: Case) -> None:
    names = case.names()
    for code in (case.typed, case.truth):
        exec(code, names)
