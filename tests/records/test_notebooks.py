"""The records of a saved notebook are read; what is forged is refused, and never run."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ipyjaxbench import Comparison, RecordError, Sweep, read_notebook
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.sweep import Point
from ipyjaxbench.device import About
from ipyjaxbench.ipynb import decode
from ipyjaxbench.records.notebooks import KINDS, LATER_KINDS, NotebookRecords, find_kind
from ipyjaxbench.reports import Facts, Table, html
from ipyjaxbench.reports.result import Result
from tests.notebook_files import cell, notebook
from tests.results import STEADY, measured

M = measured(STEADY)
C = Comparison((ArmResult("a", M), ArmResult("b", measured([2000] * 100))), "a")
S = Sweep(("n",), ("a", "b"), (Point(("100",), C),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ipynb"


def test_every_record_is_read_as_a_result_of_its_kind(path: Path) -> None:
    notebook(path, cell("x = 1"), cell("%fwtime f(x)", M), cell("%%fwcompare\n", C, S))
    found = read_notebook(path)
    assert [saved.result for saved in found] == [M, C, S]
    assert [saved.cell for saved in found] == [2, 3, 3]
    assert (found.refused, found.python, found.path) == ((), "3.11.7", str(path))
    assert (len(found), found[0].result, found[1:]) == (3, M, found.records[1:])


@pytest.mark.parametrize(
    ("source", "results", "lines", "names"),
    [
        ("import x\n%fwtime f(x)", [M], [2], [""]),
        ("for i in y:\n    %fwtime --name b f(x)", [M, M], [2, 2], ["b", "b"]),
        ("%fwtime g(x)\n%fwtime --name two f(x)", [measured(STEADY, code="g(x)"), M], [1, 2],
         ["", "two"]),
        ("%%fwtime --name c\nf(x)\ny = 2", [measured(STEADY, code="f(x)\ny = 2")], [1], ["c"]),
        ("%%fwcompare --baseline a\na: f(x)\nb: g(x)", [C], [1], [""]),
        ("%fwtime --nonsense f(x)", [M], [1], [""]),
        ("shown(m)", [M], [0], [""]),
        ("%jaxpr f(x)\n%fwdevices x\nprint()", [C], [0], [""]),
        ("%jaxpr f(x)\n%fwdevices x\nprint()", [C, S], [1, 2], ["", ""]),
        ("%fwtime f(x)\n%fwtime f(x)", [M], [0], [""]),
        ("%fwtime --name a f(x)\n%fwtime --name b f(x)", [M, M], [1, 2], ["a", "b"]),
    ],
)  # fmt: skip
def test_where_a_record_stands_is_told(
    path: Path, source: str, results: list[Result], lines: list[int], names: list[str]
) -> None:
    found = read_notebook(notebook(path, cell(source, *results, cell_id="abc")))
    assert [saved.line for saved in found] == lines
    assert [saved.name for saved in found] == names
    assert {saved.cell_id for saved in found} == {"abc"}
    assert {saved.source for saved in found} == {source}


def test_each_result_is_a_row_and_of_many_refused_records_the_first_are_shown(path: Path) -> None:
    nothing = About((("ipyjaxbench", "0.1.0"),))  # its headline has no title
    bad = [cell("", {"kind": "x" * 99})] * 7
    found = read_notebook(
        notebook(path, cell("%fwtime --name base f(x)", M), cell("%fwtime f(x)", M),
                 cell("%ipyjaxbench", nothing), cell("print(a)", nothing), *bad)
    )  # fmt: skip
    assert repr(found) == f"<NotebookRecords of {path}: 4 records>"
    assert str(found).startswith("a.ipynb     4 records\n")
    (table,) = (block for block in found.report().blocks if isinstance(block, Table))
    assert table.head == ("result", "kind", "cell:line", "found")
    assert table.rows == (
        ("base", "measurement", "1:1", "1.00 µs ± 2.5 % QUIET"),
        ("f(x)", "measurement", "2:1", "1.00 µs ± 2.5 % QUIET"),
        ("about", "about", "3:1", "ipyjaxbench 0.1.0"),
        ("about", "about", "4", "ipyjaxbench 0.1.0"),
    )
    (facts,) = (block for block in found.report().blocks if isinstance(block, Facts))
    assert (len(facts.rows), facts.rows[5]) == (6, ("", "and 2 more records"))
    label, text = facts.rows[0]
    assert (label, len(text)) == ("unreadable", len("cell 5: ") + 200)
    assert text.startswith(f"cell 5: '{'x' * 40}' is not a kind of result; these are measurement, ")


def test_outputs_of_other_cells_and_without_data_are_none_of_ours(path: Path) -> None:
    text = {**cell("", M), "cell_type": "markdown"}
    printed = cell("print(1)", M)
    printed["outputs"].insert(0, {"output_type": "stream", "name": "stdout", "text": "1"})
    found = read_notebook(notebook(path, text, printed))
    assert ([saved.cell for saved in found], found.refused) == ([2], ())
    empty = read_notebook(notebook(path, cell("x = 1"), {"cell_type": "markdown", "source": "#"}))
    assert len(empty) == 0
    assert "0 records" in str(empty)
    for unknown in ({}, {"language_info": 3}, {"language_info": {"version": 3}}):
        assert read_notebook(notebook(path, cell("", M), metadata=unknown)).python == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *((content, "not JSON") for content in (b"", b"{", b"\xff\xfe")),
        *((content, "no list of cells") for content in (
            b"[]", b"3", b'{"nbformat": 4}', b'{"nbformat": 4, "cells": {}}')),
        (b'{"nbformat": 3, "worksheets": []}', "notebook format 3 is not supported"),
        (b'{"cells": []}', "notebook format 'none' is not supported"),
        (b'{"nbformat": 4, "cells": [NaN]}', "not JSON"),
        (b'{"nbformat": 4, "cells":' + b"[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_one_clear_line(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(RecordError, match=words) as raised:
        read_notebook(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_missing_or_a_directory_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no such file"):
        read_notebook(tmp_path / "none.ipynb")
    with pytest.raises(RecordError, match="a directory or a device"):
        read_notebook(tmp_path)
    with pytest.raises(RecordError, match="cannot be read"):
        read_notebook("a\0b")
    with pytest.raises(RecordError, match="cannot be read"):
        read_notebook("a" * 5000)
    with (tmp_path / "giant.ipynb").open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(RecordError, match="300,000,000 bytes"):
        read_notebook(file.name)


@pytest.mark.parametrize(
    "record",
    [None, "text", [], {}, {"schema": 1, "kind": ["measurement"], "facts": {}},
     {"schema": 1, "kind": "measurement"}, {"schema": 99, "kind": "measurement", "facts": {}},
     {"schema": 1, "kind": "os.system", "facts": {}},
     {"schema": 1, "kind": "__class__", "facts": {}}],
)  # fmt: skip
def test_a_record_that_is_none_is_refused_and_the_others_are_read(
    path: Path, record: object
) -> None:
    found = read_notebook(notebook(path, cell("", record), cell("%fwtime f(x)", M)))
    assert [refused.cell for refused in found.refused] == [1]
    assert [saved.result for saved in found] == [M]


@pytest.mark.parametrize("each", [3, None, {}, {"cell_type": "code", "outputs": [3]}])
def test_a_cell_that_is_none_is_refused_and_the_others_are_read(path: Path, each: object) -> None:
    found = read_notebook(notebook(path, each, cell("%fwtime f(x)", M)))
    assert [refused.cell for refused in found.refused] == [1]
    assert [saved.cell for saved in found] == [2]


FORGED = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.text(max_size=20)),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["<script>alert(1)</script>", 1e308, [], {}]),
)


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2])
    below = [(key, each) for key, each in inner]
    return [
        *[(*at, key) for key, _ in below],
        *[p for k, v in below if isinstance(v, dict | list) for p in _places(v, (*at, k))],
    ]


RECORDS = [each.to_dict() for each in (M, C, S)]
PLACES = [(record, place) for record in RECORDS for place in _places(record)]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
)
@given(change=st.sampled_from(PLACES), forged=FORGED)
def test_whatever_is_forged_is_refused_or_shown_as_text(
    path: Path, change: tuple[dict[str, Any], tuple[Any, ...]], forged: object
) -> None:
    record = copy.deepcopy(change[0])
    *above, last = change[1]
    target: Any = record
    for key in above:
        target = target[key]
    target[last] = forged
    found = read_notebook(notebook(path, cell("%fwtime f(x)", record)))
    assert len(found) + len(found.refused) == 1
    for shown in (found, *(saved.result for saved in found)):
        str(shown)
        assert "<script" not in html.render(shown.report())


SOURCE = 'f("ä", "\\\\", \'😀\')\n\t# "c", \\n\u2028\n'


@pytest.mark.parametrize("source", [SOURCE, SOURCE.splitlines(keepends=True), [SOURCE], "", []])
@pytest.mark.parametrize("ascii", [True, False])
def test_of_long_code_the_begin_is_read(
    monkeypatch: pytest.MonkeyPatch, source: str | list[str], *, ascii: bool
) -> None:
    content = {"nbformat": 4, "cells": [{"cell_type": "code", "source": source}]}
    text = json.dumps(content, ensure_ascii=ascii)
    lengths = []
    for most in range(2, 120):
        monkeypatch.setattr(decode, "_MAX_SOURCE_BYTES", most)
        (found,) = decode.decode_notebook("a.ipynb", text.encode(), "a/b").cells
        assert isinstance(found, decode.NotebookCell)
        assert "".join(source).startswith(found.source)
        lengths.append(len(found.source))
    assert lengths == sorted(lengths)
    assert lengths[-1] == len("".join(source))


def test_a_record_that_is_too_large_is_refused_and_others_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = M.to_dict()
    large = {**small, "more": "x" * len(json.dumps(small))}
    monkeypatch.setattr(decode, "_MAX_RECORD_BYTES", len(json.dumps(small)))
    found = read_notebook(notebook(path, cell("f(x)", large, small)))
    assert len(found) == 1
    (refused,) = found.refused
    assert refused.reason.startswith("the record is too large: ")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_each_result_finds_its_report() -> None:
    """It is registered by the module of the same name with ``_report`` behind it."""
    for kind in LATER_KINDS:
        find_kind(kind)
    kinds = [(each.__module__, each.__name__) for each in (*KINDS.values(), NotebookRecords)]
    code = f"""
import importlib, os
from ipyjaxbench.reports.result import report
none = report.dispatch(object)
for module, name in {kinds!r}:
    child = os.fork()  # each as the first one
    if not child:
        kind = getattr(importlib.import_module(module), name)
        assert report.dispatch(kind) is none, name
        try:
            report(object.__new__(kind))
        except AttributeError:  # it holds no facts
            pass
        assert report.dispatch(kind).__module__ == module + "_report", name
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    subclasses = {each.__name__: each.kind for each in Result.__subclasses__()
                  if each.__module__.startswith("ipyjaxbench.")}  # fmt: skip
    assert {*subclasses.values()} == {*KINDS, *LATER_KINDS}  # each can be read
