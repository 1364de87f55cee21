"""Why PyTorch would not trace, and what to write: each fix gives what the code gives."""

import functools
from collections.abc import Iterator
from traceback import walk_tb
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo  # changes the environment when it is loaded

from ipyjaxbench import Diagnosis, SnippetError, UntraceableError
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Rule
from ipyjaxbench.adapters.torch.diagnosis.rules import RULES, RULES_OF_FUNCTIONS
from ipyjaxbench.adapters.torch.graphs import tracer
from ipyjaxbench.graphs.explain import explain
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import applied, names_of, site_of

CODE = """
def by_if(x, w):
    if x.sum() > 0:
        return x + w
    return x - w
def assigned(x):
    y = x * 2
    if y.mean() > 0.5:
        y = y - 1
    return y
def chosen(x):
    return x if x.max() > 1 else -x
def by_item(x):
    return x * x.sum().item()
def by_item_in_if(x):
    if x.sum().item() > 0:
        return x
    return -x
def masked_sum(x):
    return x[x > 0.5].sum()
def masked(x):
    return x[x > 0.5]
def by_numpy(x):
    return torch.from_numpy(np.sin(x.numpy())) + 1
def of_values(x):
    return torch.tensor([x.sum(), 2.0])
def repeated(x):
    while x.sum() < 100:
        x = x * 2
    return x
def sliced(x, i):
    return x[i : i + 2]
def looked_up(x, i):
    return x * (1, 2, 3)[i]
def listed(x):
    return x * x.tolist()[0]
def counted(x, i):
    for _ in range(i):
        x = x + 1
    return x
def selected(x, flags):
    if flags[0]:
        return x * 2, x
    return x
def helped(x):
    return assigned(x).sum()
def printing(x):
    print("here")
    return x + 1
def loading(x):
    torch.nn.Linear(3, 3).load_state_dict({})
    return x
def mismatched(x):
    return x @ x.new_zeros(7, 7)
def complaining(x):
    raise ValueError("too " + "long " * 100)
class Gate(torch.nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.linear, self.limit = torch.nn.Linear(4, 4), limit
    def forward(self, x):
        h = self.linear(x)
        if h.sum() > self.limit:
            h = -h
        return h
def closed_over(limit):
    def inside(x):
        if x.sum() > limit:
            return x
        return -x
    return inside
gate, inside = Gate(0.0), closed_over(1.0)
"""
X, W = torch.rand(3, 4), torch.rand(4)
NAMES = names_of(CODE, torch=torch, np=np, x=X, w=W, i=torch.tensor(1))
TRUTH, SIZE = "Python's control flow needs the value of", "The size of "
ITEM = "x.sum().item() needs a tensor's value"
#: Calls, with why they do not trace, what is written instead, and which argument is blamed.
CASES = {
    "by_if(w=w, x=x)": (TRUTH, "return torch.where(x.sum() > 0, x + w, x - w)", "x"),
    "chosen(x)": (TRUTH, "return torch.where(x.max() > 1, x, -x)", "x"),
    "by_item(x)": (ITEM, "return x * x.sum()", "x"),
    "by_item_in_if(x)": (ITEM, "return torch.where(x.sum() > 0, x, -x)", "x"),
    "masked_sum(x)": (SIZE, "return torch.where(x > 0.5, x, 0).sum()", "x"),
    "masked(x)": (SIZE, "return torch.where(x > 0.5, x, 0)", "x"),
    "by_numpy(x)": ("x.numpy() needs the tensor's values", "return torch.sin(x) + 1", ""),
    "helped(x)": (TRUTH, "y = torch.where(y.mean() > 0.5, y - 1, y)", "x"),
    "gate(x)": (TRUTH, "h = torch.where(h.sum() > self.limit, -h, h)", "x"),
    "inside(x)": (TRUTH, "return torch.where(x.sum() > limit, x, -x)", "x"),
    "repeated(x)": (TRUTH, "", "x"),
    "of_values(x)": ("torch.tensor([x.sum(), 2.0]) needs the tensor's values", "", ""),
}


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


LOOP = "Make a fixed number of steps"
LOOK_UP = "Use torch.index_select"
ADVICE = {
    ("sliced(x, i)", "aten"): "Take a fixed number of elements",
    ("looked_up(x, i)", "aten"): LOOK_UP,
    ("looked_up(x, i)", "export"): LOOK_UP,
    ("listed(x)", "aten"): "Leave tolist() out",
    ("counted(x, i)", "aten"): "Pass the number of steps as a Python number",
    ("repeated(x)", "aten"): LOOP,
    ("repeated(x)", "export"): LOOP,
    ("selected(x, x[0] > 0)", "aten"): "Use torch.where or torch.cond.",
}


def diagnosis(code: str, stage: str = "aten") -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain(code), dict(NAMES), GraphOptions(stage=stage))
    cause = caught.value.__cause__
    assert cause is not None
    frames = [frame for frame, _ in walk_tb(cause.__traceback__)]
    (ours,) = (f for f in frames if f.f_code.co_filename == tracer.__file__)
    assert ours.f_locals["__tracebackhide__"]
    return caught.value.diagnosis


def explained(function: Any, *args: Any) -> Diagnosis:
    with pytest.raises(torch._dynamo.exc.Unsupported) as raised:
        torch.compile(function, fullgraph=True, backend="eager")(*args)
    return explain(raised.value)


@pytest.mark.parametrize(("code", "stage"), ADVICE)
def test_the_advice_is_that_for_what_failed(code: str, stage: str) -> None:
    assert diagnosis(code, stage).advice.startswith(ADVICE[code, stage])


def test_what_is_advised_in_place_of_a_loop_traces() -> None:
    loop = "functools.reduce(lambda x, _: torch.where(x.sum() < 100, x * 2, x), range(9), x)"
    for code in (
        "x[0][i + torch.arange(2)]",
        "torch.index_select(torch.tensor([1, 2]), 0, i)",
        loop,
    ):
        assert trace_program(
            Source.plain(code), {**NAMES, "functools": functools}, GraphOptions()
        ).operations


def test_a_loop_that_torch_compile_refuses_gets_the_advice_for_a_loop() -> None:
    assert explained(NAMES["repeated"], NAMES["x"]).advice.startswith(LOOP)


@pytest.mark.parametrize("code", CASES)
def test_what_asks_for_a_value_gets_a_fix_that_traces(code: str) -> None:
    found, (because, fix, blamed) = diagnosis(code), CASES[code]
    assert found.because.startswith(because)
    assert [each.code for each in found.fixes[:1]] == [fix] * bool(fix)
    assert found.blamed == (blamed,) * bool(blamed)
    assert found.line
    assert all(each.cost for each in found.fixes)
    if not fix:
        assert found.advice
        assert "(not verified)" in str(found)


@pytest.mark.parametrize("stage", ["aten", "dynamo"])
def test_the_first_line_that_says_something_is_shown(stage: str) -> None:
    told = diagnosis("loading(x)", stage).message
    assert told.startswith("Error(s) in loading state_dict for Linear: Missing key(s) in state_d")
    told = diagnosis("mismatched(x)", stage).message
    assert told == "a and b must have same reduction dim, but got [3, 4] X [7, 7]."
    found = diagnosis("complaining(x)", stage)
    assert (len(found.message), found.error) == (200, "ValueError")
    assert found.message.endswith(" ...")
    assert found.source == 'raise ValueError("too " + "long " * 100)'


def test_a_fix_replaces_lines_and_gives_the_same_values() -> None:
    fix = diagnosis("by_if(x, w)").fixes[0]
    assert fix.replaces == "if x.sum() > 0:\n    return x + w\nreturn x - w"
    assert fix.same == "without tracing"
    assert diagnosis("masked(x)").fixes[0].same == ""
    found = diagnosis("torch.nonzero(x)")  # of PyTorch alone: there is no line
    assert (found.line, found.source, found.blamed) == (0, "", ("x",))
    assert found.because.startswith(SIZE)
    found = diagnosis("by_if(x, w)", "export")
    assert found.because.startswith("An if, a while or a shape needs a tensor's value")
    assert (found.fixes[0].code, found.blamed) == (fix.code, ("x",))


def test_an_error_of_fullgraph_is_explained_and_no_code_and_no_cache_is_changed() -> None:
    functions = NAMES["by_if"], NAMES["assigned"], NAMES["Gate"].forward
    codes = [each.__code__ for each in functions]
    entries = torch._dynamo.eval_frame._debug_get_cache_entry_list
    torch.compile(NAMES["by_if"], backend=lambda module, _: module.forward)(X, W)
    before = [len(entries(code)) for code in codes]
    for function, args, source, code in (
        (NAMES["by_if"], (X, W), "if x.sum() > 0:", "by_if(w=w, x=x)"),
        (NAMES["helped"], (X,), "if y.mean() > 0.5:", "helped(x)"),
        (NAMES["Gate"](0.0), (X,), "if h.sum() > self.limit:", "gate(x)"),
    ):
        found = explained(function, *args)
        assert (found.source, found.error, found.blamed) == (source, "Unsupported", ("x",))
        assert found.fixes[0].code == CASES[code][1]
    diagnosis("helped(x)")
    diagnosis("gate(x)")
    assert all(each.__code__ is code for each, code in zip(functions, codes, strict=True))
    assert [len(entries(code)) for code in codes] == before


@pytest.mark.parametrize("strict", [False, True])
def test_an_error_of_export_is_explained(strict: bool) -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.export.export(NAMES["Gate"](0.0), (X,), strict=strict)
    found = explain(raised.value)
    assert (found.source, found.blamed) == ("if h.sum() > self.limit:", ("x",))
    assert found.fixes[0].code == CASES["gate(x)"][1]
    with pytest.raises(RuntimeError) as raised:  # as the module does when it is called
        torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 3),), strict=False)
    with pytest.raises(SnippetError, match="did not come from tracing"):
        explain(raised.value)


def test_what_dynamo_does_not_know_is_told_in_its_words_and_other_errors_are_not() -> None:
    found = explained(NAMES["printing"], X)
    assert found.source == 'print("here")'
    assert found.because.startswith("Dynamo does not know how to trace builtin operator `print`")
    assert not found.fixes
    with pytest.raises(SnippetError, match="did not come from tracing"):
        explain(ValueError("no"))


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
    (WHERE_FOR_NUMBER, "if x.item() > 0:\n    y = n", ["y = torch.where(x > 0, n, y)"]),
    (MASK, "y = x[x > 0]", ["y = torch.where(x > 0, x, 0)"]),
    (MASK, "y = x[n]", []),
    (MASK, "x[x > 0] = 1", []),
])  # fmt: skip
def test_a_statement_is_written_in_another_way(rule: Rule, line: str, new: list[str]) -> None:
    assert applied(rule, *line.split("\n")) == new


@pytest.mark.parametrize(("rule", "line", "changes", "same"), [
    (NUMBER, "y = x.item()", "stays a tensor", True),
    (REDUCTION, "y = x[x > 0].sum()", "reduces only where the mask is True", True),
    (MASK, "y = x[x > 0]", "keeps the shape: 0 where the mask is False", False),
    (WHERE_FOR_NUMBER, "if x.item() > 0:\n    y = n",
     "stays a tensor, computes both branches, then selects one", True),
])  # fmt: skip
def test_what_changes_is_said(rule: Rule, line: str, changes: str, *, same: bool) -> None:
    assert [(edit.changes, edit.same) for edit in rule(site_of(*line.split("\n")))] == [
        (changes, same)
    ]


@pytest.mark.parametrize(("line", "new"), [
    ("y = N.sin(x.detach().cpu().numpy())", "y = torch.sin(x)"),
    ("y = torch.from_numpy(N.sin(x.numpy()))", "y = torch.sin(x)"),
    ("y = torch.tensor(N.pi)", "y = torch.pi"),
])  # fmt: skip
def test_numpy_goes_from_all_lines(line: str, new: str) -> None:
    (rule,) = RULES_OF_FUNCTIONS
    assert applied(rule, line, "return x.numpy()", N=np) == [f"{new}\nreturn x"]
    assert applied(rule, "y = torch.sin(x)", "return n.a", N=np) == []
