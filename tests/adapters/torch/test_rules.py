"""What PyTorch's rules write in place of a statement, before anything is tried."""

import numpy as N
import pytest

from ipyjaxbench.adapters.shared.diagnosis.source_edit import Rule
from ipyjaxbench.adapters.torch.diagnosis.rules import RULES, RULES_OF_FUNCTIONS
from tests.adapters.shared.code import applied, site_of

NUMBER, WHERE_FOR_NUMBER, REDUCTION, MASK = RULES[3:]


@pytest.mark.parametrize(("rule", "line", "new"), [
    (NUMBER, "y = x.item()", ["y = x"]),
    (NUMBER, "y = float(x)", ["y = x.float()"]),
    (NUMBER, "y = int(x)", ["y = x.long()"]),
    (NUMBER, "y = bool(x)", ["y = x.bool()"]),
    (NUMBER, "y = str(x)", []),
    (REDUCTION, "y = x[x > 0].mean()", ["y = torch.where(x > 0, x, 0).sum() / (x > 0).sum()"]),
    (REDUCTION, "y = x[0 < x].prod()", ["y = torch.where(0 < x, x, 1).prod()"]),
    (REDUCTION, "y = x[~f(x)].any()", ["y = torch.where(~f(x), x, False).any()"]),
    (REDUCTION, "y = x[x > 0].all()", ["y = torch.where(x > 0, x, True).all()"]),
    (REDUCTION, "y = x[x > 0].max()", []),
    (REDUCTION, "y = x[x > y].sum()", []),
    (REDUCTION, "y = x[y > 0].sum()", []),
    (WHERE_FOR_NUMBER, "if x.item() > 0: y = n", ["y = torch.where(x > 0, n, y)"]),
    (MASK, "y = x[x > 0]", ["y = torch.where(x > 0, x, 0)"]),
    (MASK, "y = x[n]", []),
    (MASK, "x[x > 0] = 1", []),
])  # fmt: skip
def test_a_statement_is_written_in_another_way(rule: Rule, line: str, new: list[str]) -> None:
    assert applied(rule, line) == new


@pytest.mark.parametrize(("rule", "line", "changes", "same"), [
    (NUMBER, "y = x.item()", "stays a tensor", True),
    (REDUCTION, "y = x[x > 0].sum()", "reduces only where the mask is True", True),
    (MASK, "y = x[x > 0]", "keeps the shape: 0 where the mask is False", False),
    (WHERE_FOR_NUMBER, "if x.item() > 0: y = n",
     "stays a tensor, computes both branches, then selects one", True),
])  # fmt: skip
def test_what_changes_is_said(rule: Rule, line: str, changes: str, *, same: bool) -> None:
    assert [(edit.changes, edit.same) for edit in rule(site_of(line))] == [(changes, same)]


@pytest.mark.parametrize(("line", "new"), [
    ("y = N.sin(x.detach().cpu().numpy())", "y = torch.sin(x)"),
    ("y = torch.from_numpy(N.sin(x.numpy()))", "y = torch.sin(x)"),
    ("y = torch.tensor(N.pi)", "y = torch.pi"),
])  # fmt: skip
def test_numpy_goes_from_all_lines(line: str, new: str) -> None:
    (rule,) = RULES_OF_FUNCTIONS
    assert applied(rule, line, "return x.numpy()", N=N) == [f"{new}\nreturn x"]
    assert applied(rule, "y = torch.sin(x)", "return n.a", N=N) == []
