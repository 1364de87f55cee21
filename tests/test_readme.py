"""The README's code works, and its links lead somewhere.

Fenced blocks are told apart by their language: ``sh`` is a command to set up and run, ``python``
is code of a session or a module, ``text`` is what was shown, ``toml`` is metadata.
"""

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

import ipyjaxbench
from ipyjaxbench.purposes import MAGICS
from ipyjaxbench.timing import VERDICT_MEANINGS
from tests.reference import broken_links
from tests.shown import Shown, pictured, refusal

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(README) if kind == language]


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 300


def test_the_example_comes_first_and_is_the_one_that_the_first_command_runs() -> None:
    assert blocks("python")[0] == (ROOT / "examples" / "first.ipy").read_text("utf-8")
    assert "examples/first.ipy" in blocks("sh")[0]


def test_there_are_exactly_two_commands_of_one_line_each_in_environments_of_their_own() -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    for folder, command in zip((".try", ".venv"), commands, strict=True):
        assert command.count("\n") == 1
        assert command.startswith(f"python3 -m venv {folder} && {folder}/bin/pip install ")
        assert "\\" not in command
    assert '".[jax]"' in commands[0]
    assert commands[1].endswith('-e ".[test]" && .venv/bin/python -m tests\n')


def test_typed_in_order_into_one_session_every_block_runs() -> None:
    """In a process of its own; no name is undefined, and only what is meant to fails."""
    if find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    command = [sys.executable, "-m", "tests.shown", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


_CODE = "```python\n%fwtime f(x)\n```\n\n"
_PICTURED = f'{_CODE}<picture><img src="examples/pictures/f-light.png"></picture>\n'


@pytest.mark.parametrize(("noisy", "number"), [(1, 1), (3, 3), (4, 0), (0, 0), (None, 0)])
def test_it_is_not_written_with_a_noisy_one_of_its_first_three_pictures(
    noisy: int | None, number: int
) -> None:
    page = f"{_CODE}```text\nshown\n```\n\n{_PICTURED * 4}"  # the first block has no picture
    shown = [Shown("", f"f(x)  1 ms  {'▲ NOISY' if block == noisy else '✓ OK'}\n", "", None)
             for block in range(5)]  # fmt: skip
    said = refusal("README.md", pictured(page, shown))
    start = f"README.md is not saved: its picture {number} is noisy (f(x) 1 ms ▲ NOISY). "
    assert said.startswith(start) if number else not said
    assert "\n" not in said


def test_what_is_shown_was_shown() -> None:
    assert all(each.strip() for each in blocks("text"))
    for picture in re.findall(r'"(examples/pictures/.+?)"', README):
        assert (ROOT / picture).is_file(), picture


def test_every_verdict_is_explained_and_every_magic_named() -> None:
    for word in VERDICT_MEANINGS:
        assert re.search(rf"^\| `{word}` \| .+\. \| .+\. \|$", README, re.MULTILINE), word
    assert [magic for magic in MAGICS if f"`{magic}`" not in README] == []


def test_all_code_is_valid() -> None:
    for code in blocks("python"):
        ast.parse(TransformerManager().transform_cell(code))


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_links_lead_to_files_and_headings(name: str) -> None:
    assert broken_links(ROOT / name) == []


def test_the_changelog_has_the_version() -> None:
    heads = re.findall(r"^## \[(.+?)\](.*)", CHANGELOG, re.MULTILINE)
    assert heads[0][0] == ipyjaxbench.__version__
    for version, date in heads:
        assert bool(re.fullmatch(r" - \d{4}-\d\d-\d\d", date)) is ("dev" not in version)


@pytest.mark.parametrize("text", [README, CHANGELOG], ids=["README", "CHANGELOG"])
def test_no_text_tells_about_the_machine_that_it_was_written_on(text: str) -> None:
    assert not re.search(r"(?<![\w.])/(?:tmp|root|home|usr|opt|work|Users)/", text)
