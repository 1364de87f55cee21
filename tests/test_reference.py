"""The reference names all that a user can type and all that a report can say."""

import ast
import re
from collections.abc import Iterator, Sequence

import pytest

import ipyjaxbench
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.graphs.options import STAGES
from ipyjaxbench.jupyter.commands import COMMANDS
from ipyjaxbench.reports import Block, Details, Facts, note
from ipyjaxbench.reports.result import report
from tests import samples
from tests.reference import REFERENCE, broken_links, tables_of, write_tables

TEXT = REFERENCE.read_text("utf-8")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(TEXT) if kind == language]


def labels() -> set[str]:
    """The labels of facts in a report of each kind, without those of frameworks."""
    shown = [report(result) for result in samples.results().values()]
    found = {label for each in shown for label, _ in _facts(each.blocks)}
    return {each for each in found if each and each.split()[0] not in STAGES and each != "note"}


def _facts(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        if isinstance(block, Facts):
            yield from block.rows
        elif isinstance(block, Details):
            yield from _facts(block.blocks)


def test_tables_are_as_the_code_has_them() -> None:
    assert write_tables(TEXT) == TEXT, "write them with: python -m tests.reference"


def test_every_magic_has_its_table_of_options() -> None:
    like_jaxpr = {"fxgraph", "tfgraph"}
    without = {
        name for name, command in COMMANDS.items() if command.options.__name__ == "NoOptions"
    }
    assert tables_of("options") == {*COMMANDS, "all"} - without - like_jaxpr


def test_every_result_has_its_table_of_attributes() -> None:
    found = [getattr(ipyjaxbench, name) for name in ipyjaxbench.__all__ if name != "Options"]
    kinds = {each.__name__ for each in found
             if isinstance(each, type) and hasattr(each, "__dataclass_fields__")}  # fmt: skip
    assert tables_of("attributes") == {*kinds, "NotebookRecords", "Result"}


@pytest.mark.parametrize("name", sorted(ipyjaxbench.__all__))
def test_every_public_name_is_mentioned(name: str) -> None:
    assert re.search(rf"`(?:ipyjaxbench\.)?{name}\b", TEXT), name


def test_every_mark_is_explained() -> None:
    for mark in (note.CHANGES_MEANING, note.GOOD_TO_KNOW, "→"):
        assert f"`{mark}`" in TEXT


@pytest.mark.parametrize("label", sorted(labels()))
def test_every_label_of_a_row_is_explained(label: str) -> None:
    assert re.search(rf"`{label.split(' of ')[0]}`", TEXT), label


def test_code_is_valid() -> None:
    for code in blocks("python"):
        ast.parse(code)


def test_links_lead_to_files_and_headings() -> None:
    assert broken_links(REFERENCE) == []


def test_the_adapter_that_is_shown_has_every_method_that_it_needs() -> None:
    shown = blocks("python")[0]
    needed: set[str] = getattr(Framework, "__abstractmethods__", set())
    assert [
        name for name in needed if f"def {name}(" not in shown and f"{name} =" not in shown
    ] == []
