"""The README's code works, and its links lead somewhere.

Fenced blocks are told apart by their language: ``sh`` is a command to set up and run, ``python``
is code of a session or a module, ``text`` is what was shown, ``toml`` is metadata.
"""

import ast
import re
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

import ipyjaxbench
from tests.reference import broken_links

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(README) if kind == language]


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


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[-1][:30])
def test_all_code_is_valid(code: str) -> None:
    ast.parse(TransformerManager().transform_cell(code))


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_links_lead_to_files_and_headings(name: str) -> None:
    assert broken_links(ROOT / name) == []


def test_the_changelog_has_the_version() -> None:
    assert re.findall(r"^## \[(.+?)\]", CHANGELOG, re.MULTILINE)[:2] == [
        "Unreleased",
        ipyjaxbench.__version__,
    ]


@pytest.mark.parametrize("text", [README, CHANGELOG], ids=["README", "CHANGELOG"])
def test_no_text_tells_about_the_machine_that_it_was_written_on(text: str) -> None:
    assert not re.search(r"(?<![\w.])/(?:tmp|root|home|usr|opt|work|Users)/", text)
