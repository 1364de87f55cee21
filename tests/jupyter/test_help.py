"""What %fwtime? shows, for every magic."""

import re
from typing import Any

import pytest

from ipyjaxbench.command import Command
from ipyjaxbench.jupyter.commands import COMMANDS
from tests.shell import Shell

ALL = pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)


@ALL
def test_the_help_has_all_parts_in_eighty_columns(command: Command[Any]) -> None:
    lines = command.help().splitlines()
    assert lines[0].endswith(".")
    assert lines[1] == ""
    assert lines[2].startswith(f"usage: {command.typed}")
    for part in ("options:", "examples:", "from Python:"):
        assert part in lines
    assert len([line for line in lines if re.match(r"  (\w+ = )?%", line)]) >= 3
    assert max(map(len, lines)) <= 80
    assert command.help().isascii()
    for row in command.rows:
        flags = rf"^  {', '.join(row.flags)}[ \n]"
        assert re.search(flags, command.help(), re.MULTILINE), row.flags
    for line in re.findall(rf"^  (?:\w+ = )?%%?{command.name}\b(.*)", command.help(), re.MULTILINE):
        command.split(line)  # examples can be typed


@ALL
def test_a_question_mark_shows_it_and_the_lists_of_magics_have_it(
    shell: Shell, command: Command[Any]
) -> None:
    shown: list[str] = []
    shell.shell.set_hook("show_in_pager", lambda _, data, **how: shown.append(str(data)), 0)
    try:
        shell.run(f"%{command.name}?")
    finally:
        shell.shell.hooks.show_in_pager.chain.pop(0)
    assert command.purpose in shown[0]
    assert "from Python:" in shown[0]
    assert f"%{command.name}" in str(shell.run("%lsmagic"))
    docs = shell.shell.magics_manager.lsmagic_docs(brief=True)
    assert docs["line"].get(command.name, docs["cell"].get(command.name)) == command.purpose


@ALL
@pytest.mark.parametrize(("line", "names"), [("--help", {"h": 1}), ("-h", {}), ("--help f()", {})])
def test_an_option_shows_it_and_runs_nothing(
    shell: Shell, command: Command[Any], line: str, names: dict[str, int]
) -> None:
    shell.names.update(names)
    shell.run(f"{command.typed} {line}" + ("\nf()" if command.typed.startswith("%%") else ""))
    assert shell.shown[-1].data["text/plain"] == command.help(
        shell.session.settings.option_values()
    )


def test_minus_h_is_code_where_the_user_has_an_h(shell: Shell) -> None:
    shell.run("h = 3\nm = %fwtime -q -n 1 -h")
    assert shell.names["m"].code == "-h"
