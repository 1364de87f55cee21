"""The README names all that a user can type and all that a report can say, and its code works.

Fenced blocks are told apart by their language: ``sh`` is a command to set up and run, ``python``
is code of a session or a module, ``text`` is what was shown, ``toml`` is metadata.
"""

import ast
import re
from dataclasses import fields
from functools import cached_property
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

import ipyjaxbench
from ipyjaxbench import Measurement
from ipyjaxbench.command import ShownOptions
from ipyjaxbench.jupyter import commands
from ipyjaxbench.jupyter.settings import IpyJaxBench
from ipyjaxbench.option import options_of
from ipyjaxbench.reports import note
from ipyjaxbench.retracing import traces
from ipyjaxbench.timing import VERDICT_MEANINGS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(README) if kind == language]


def section(title: str) -> str:
    """The text under a heading, up to the next one of its level or above."""
    found = re.search(rf"^(#+) {re.escape(title)}$", README, re.MULTILINE)
    assert found, f"there is no heading {title!r}"
    rest = README[found.end() :]
    return re.split(rf"^#{{1,{len(found[1])}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def public_names() -> list[str]:
    """What `ipyjaxbench/__init__.pyi` exports: ``import X as X``, and functions of its own."""
    tree = ast.parse(Path(ipyjaxbench.__file__).with_suffix(".pyi").read_text("utf-8"))
    imported = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    own = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [*imported, *(name for name in own if not name.startswith("_"))]


def attributes() -> list[str]:
    """What a result tells: its facts, and what is computed from them."""
    computed = [
        name
        for name, value in vars(Measurement).items()
        if not name.startswith("_") and isinstance(value, property | cached_property)
    ]
    return [*(field.name for field in fields(Measurement)), *computed]


def test_the_example_comes_first_and_is_the_one_that_the_first_command_runs() -> None:
    kinds = [kind for kind, _ in _FENCE.findall(README)]
    assert kinds[:4] == ["python", "text", "sh", "sh"]
    assert blocks("python")[0] == (ROOT / "examples" / "first.ipy").read_text("utf-8")
    assert "examples/first.ipy" in blocks("sh")[0]


def test_what_is_shown_was_shown() -> None:
    # A word alone in capitals stands for an output that is still to come.
    left = [word for shown in blocks("text") for word in re.findall(r"^[A-Z]{3,}$", shown, re.M)]
    assert left == []


def test_the_first_output_is_of_the_first_example() -> None:
    code = blocks("python")[0].splitlines()[-1].removeprefix("%fwtime ")
    assert blocks("text")[0].startswith(code)


def test_there_are_exactly_two_commands_of_one_line_each() -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    for command in commands:
        assert command.count("\n") == 1
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert "\\" not in command
    assert '".[jax]"' in commands[0]
    assert commands[1].endswith('-e ".[test]" && .venv/bin/python -m tests\n')


#: Heading -> the magic whose options stand in a table below it.
_TABLES = {
    "Options": commands.TIME,
    "Comparing": commands.COMPARE,
    "Seeing the program": commands.GRAPH,
    "Traced or cached": commands.TRACE,
    "Where everything lives": commands.DEVICES,
    "What was measured before": commands.HISTORY,
}
#: Options of several magics, which stand in the first table alone.
_TOLD_ONCE = {("-p", "--precision"), *(row.flags for row in options_of(ShownOptions))}


def table(title: str) -> dict[str, bool]:
    """The flags that stand in a table below a heading, and whether a value follows each."""
    rows = re.findall(r"^\| (`-.+?`) \|", section(title), re.MULTILINE)
    spans = [span for row in rows for span in re.findall(r"`(-[^`]+)`", row)]
    return {flag: bool(value) for flag, _, value in (span.partition(" ") for span in spans)}


@pytest.mark.parametrize("title", _TABLES)
def test_a_table_has_the_options_that_there_are(title: str) -> None:
    expected = {
        flag: row.takes_value
        for row in _TABLES[title].rows
        if title == "Options" or row.flags not in _TOLD_ONCE
        for flag in row.flags
    }
    assert table(title) == expected


def test_the_table_of_settings_has_all_of_them() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section("Help and settings"), re.MULTILINE)
    assert {*rows} == {*IpyJaxBench.class_own_traits(config=True)}


@pytest.mark.parametrize("state", [state for state in traces.STATES if state != "?"])
def test_every_state_of_a_call_is_explained(state: str) -> None:
    assert f"`{state}`" in section("Traced or cached")


@pytest.mark.parametrize("word", VERDICT_MEANINGS)
def test_every_verdict_is_explained(word: str) -> None:
    assert re.search(rf"^\| `{word}` \| .+\. \| .+\. \|$", section("Verdicts"), re.MULTILINE)


def test_every_mark_is_explained() -> None:
    for mark in (note.CHANGES_MEANING, note.GOOD_TO_KNOW, "→"):
        assert f"`{mark}`" in section("Marks")


@pytest.mark.parametrize(
    "label",
    [
        "fastest",
        "throughput",
        "dispatch",
        "median",
        "because",
        "samples",
        "spread",
        "first call",
        "fresh",
        "pays back",
        "device",
        "where",
        "with",
    ],
)
def test_every_row_of_a_report_is_explained(label: str) -> None:
    assert f"| `{label}` |" in section("What the lines of a report mean")


def test_every_label_that_the_shown_reports_have_is_explained() -> None:
    labels = {
        match[1]
        for shown in blocks("text")
        for match in re.finditer(r"^([a-z][a-z ]*?)  +\S", shown, re.MULTILINE)
    }
    assert {"fastest", "with"} <= labels
    titles = ("What the lines of a report mean", "Comparing", "Seeing the program",
              "Traced or cached", "Where everything lives", "What was measured before")  # fmt: skip
    rows = "".join(map(section, titles))
    assert [label for label in labels if f"`{label}`" not in rows] == []


@pytest.mark.parametrize("name", public_names())
def test_every_public_name_is_mentioned(name: str) -> None:
    assert re.search(rf"`(?:ipyjaxbench\.)?{name}\b", README), name


@pytest.mark.parametrize("name", attributes())
def test_every_attribute_of_a_result_is_in_the_table(name: str) -> None:
    rows = "".join(
        line.split("|")[1] for line in section("The result object").splitlines() if "|" in line
    )
    assert f"`{name}`" in rows


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[-1][:30])
def test_all_code_is_valid(code: str) -> None:
    ast.parse(TransformerManager().transform_cell(code))


def test_links_lead_to_files() -> None:
    for text in (README, CHANGELOG):
        for target in re.findall(r"\]\(([^)]+)\)", text):
            if "://" not in target:
                assert (ROOT / target).is_file(), target


def test_the_changelog_has_the_version() -> None:
    assert re.findall(r"^## \[(.+?)\]", CHANGELOG, re.MULTILINE)[:2] == [
        "Unreleased",
        ipyjaxbench.__version__,
    ]


@pytest.mark.parametrize("text", [README, CHANGELOG], ids=["README", "CHANGELOG"])
def test_no_text_tells_about_the_machine_that_it_was_written_on(text: str) -> None:
    assert not re.search(r"(?<![\w.])/(?:tmp|root|home|usr|opt|work|Users)/", text)
