"""A large notebook is decoded in a process of its own, and as a small one is."""

import json
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench.errors import RecordError
from ipyjaxbench.ipynb import (
    Limits,
    NotebookCell,
    NotebookFile,
    TooLargeError,
    decode_apart,
    decode_notebook,
    process,
)
from tests.notebook_files import cell

MIME, MOST = "a/b", Limits(600, 2)
CELLS = [
    {"cell_type": "code", "id": "one", "source": "x = 'é\u2028'", "more": [{}],
     "outputs": [{"data": {MIME: {"a": ["ü"]}}}, {"data": {"text": 1}}, {}]},
    *({"cell_type": "code", "outputs": [{"data": {MIME: number}}]} for number in range(3)),
    {"cell_type": "markdown", "source": ["two\n", "lines"], "metadata": {MIME: 1}},
    {"cell_type": 3},
    *(cell(str(number)) for number in range(500)),
]  # fmt: skip
CONTENT = {"cells": CELLS, "metadata": {"language_info": {"version": "3.11"}}, "nbformat": 4}


@pytest.fixture(autouse=True)
def none_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LARGE", 0)


def apart(path: Path, text: str, name: str = "a.ipynb") -> NotebookFile:
    path.write_text(text, "utf-8")
    with path.open("rb") as file:
        return decode_apart(name, file, MIME, MOST)


@pytest.mark.parametrize("indent", [None, 1])
def test_what_is_decoded_apart_is_the_same(tmp_path: Path, indent: int | None) -> None:
    text = json.dumps(CONTENT, indent=indent, ensure_ascii=indent is None)
    found = apart(tmp_path / "a.ipynb", text)
    assert found == decode_notebook("a.ipynb", text.encode(), MIME, MOST)
    records = [each.records for each in found.cells if isinstance(each, NotebookCell)]
    assert [[json.loads(each) for each in some] for some in records[:4]] == [
        [{"a": ["ü"]}], [0], [], [],
    ]  # fmt: skip
    assert (len(records), len(found.cells)) == (len(CELLS) - 1, len(CELLS))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "it has no list of cells"),
        ('{"nbformat": 3, "cells": []}', "notebook format 3"),
        ('{"nbformat": 4}', "it has no list of cells"),
        (json.dumps({"nbformat": 4, "cells": 601 * [1]}), "601 cells: more than 600"),
    ],
)
def test_what_is_not_read_is_told_as_of_a_small_one(tmp_path: Path, text: str, reason: str) -> None:
    name = "a\0b\udc80.ipynb"  # what no command line holds
    with pytest.raises(RecordError) as small:
        decode_notebook(name, text.encode(), MIME, MOST)
    with pytest.raises(RecordError) as large:
        apart(tmp_path / "a.ipynb", text, name)
    assert (type(large.value), str(large.value)) == (type(small.value), str(small.value))
    assert reason in str(large.value)


def test_modules_of_the_working_directory_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "gc", "msgspec"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    assert len(apart(tmp_path / "a.ipynb", json.dumps(CONTENT)).cells) == len(CELLS)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("_PATIENCE", 0, "is not read: that takes more than 2 s"),
        ("__name__", "no.such.module", "what reads it was ended"),
    ],
)
def test_a_process_that_gives_no_answer_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, reason: str
) -> None:
    monkeypatch.setattr(process, name, value)
    with pytest.raises(RecordError, match=reason):
        apart(tmp_path / "a.ipynb", json.dumps(CONTENT))


def test_one_that_takes_too_much_cpu_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_SECONDS", 1)
    monkeypatch.setattr(process, "_PATIENCE", 600.0)  # however busy the machine is
    lists = "[]," * 32_000_000  # as what is crafted to take long: four seconds where all is quick
    with pytest.raises(TooLargeError, match="that takes more than 1 s"):
        apart(tmp_path / "a.ipynb", f'{{"nbformat": 4, "cells": [], "metadata": [{lists}[]]}}')
