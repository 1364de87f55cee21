"""Large notebooks are read a piece after the other, and as small ones are."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench import RecordError
from ipyjaxbench.records import large_notebook, notebook_file
from ipyjaxbench.reports import MIME
from tests.notebook_files import cell

STRINGS = st.text(max_size=9) | st.sampled_from(['\\"', '"]}', "[{", "é\u2028"])
VALUES = st.recursive(
    STRINGS | st.integers() | st.none(),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(STRINGS, each, max_size=4),
    max_leaves=20,
)


LAYOUTS: list[Any] = [
    {}, {"indent": 1, "ensure_ascii": False}, {"indent": 2}, {"indent": "\t", "sort_keys": True},
]  # fmt: skip


@given(
    outputs=st.lists(st.tuples(VALUES, st.booleans()), max_size=3), source=STRINGS, more=VALUES,
    layout=st.sampled_from(LAYOUTS),
    piece=st.integers(2, 40), part=st.integers(0, 300),
)  # fmt: skip
def test_a_large_notebook_is_read_as_a_small_one(
    outputs: list[tuple[Any, bool]], source: str, more: Any, layout: dict[str, Any],
    piece: int, part: int,
) -> None:  # fmt: skip
    """A piece after the other, between which others have their turn."""
    made = [{"output_type": "x", "data": {MIME if ours else "a/b": value, "text": "]"}}
            for value, ours in outputs]  # fmt: skip
    cells = [{"more": more, **cell(source, cell_id="one"), "outputs": made},
             {"cell_type": "markdown", "source": [source, source], "metadata": more}]  # fmt: skip
    content = {"metadata": {"more": more, "language_info": {"version": "3.11"}},
               "nbformat": 4, "cells": cells, "more": more}  # fmt: skip
    text = json.dumps(content, **layout)
    plain = notebook_file.decode_notebook("a.ipynb", text)
    with pytest.MonkeyPatch.context() as patch:
        for module in (notebook_file, large_notebook):
            patch.setattr(module, "PIECE", piece)
            patch.setattr(module, "MOST_AT_ONCE", part)
        found = notebook_file.decode_notebook("a.ipynb", text)
    assert shown_cells(found) == shown_cells(plain)


def shown_cells(found: notebook_file.NotebookFile) -> Any:
    read = [each for each in found.cells if isinstance(each, notebook_file.NotebookCell)]
    assert len(read) == len(found.cells)
    return found.python, [
        (c.number, c.cell_id, c.cell_type, c.source, [*map(bytes, c.records)]) for c in read
    ]


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize(
    "change",
    [lambda text: text[:-9], lambda text: text.replace('"cells"', '"cell"'),
     lambda text: text.replace('"nbformat": 4', '"nbformat": 3'),
     lambda text: text.replace('"cell_type": "code"', '"cell_type": 1'),
     lambda text: text.replace('"source"', '"sources"')],
)  # fmt: skip
def test_what_is_damaged_is_told_as_in_a_small_one(
    monkeypatch: pytest.MonkeyPatch, change: Any, indent: int | None
) -> None:
    content = {"cells": [cell("x" * 50, 1), cell("y")], "metadata": {}, "nbformat": 4}
    text = change(json.dumps(content, indent=indent))
    plain = read(text)
    for module in (notebook_file, large_notebook):
        monkeypatch.setattr(module, "MOST_AT_ONCE", 60)
    assert read(text) == plain


def read(text: str) -> Any:
    """Which cells are damaged, or why it is no notebook."""
    try:
        cells = notebook_file.decode_notebook("a.ipynb", text).cells
    except RecordError as error:
        return str(error).partition("(")[0]
    return [isinstance(each, notebook_file.DamagedCell) for each in cells]
