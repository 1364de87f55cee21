"""What stands behind a magic in the code is put back, or told, as any other code."""

import pytest

from tests.shell import Shell

TIMED = [
    "%time x.append(3)",
    "%time x.append(3)\n2",
    "%%time\nx.append(3)",
    "%%capture\nif 1:\n    t = %time x.append(3)",
    "%timeit -n1 -r1 -q x.append(3)",
]


@pytest.mark.parametrize("code", TIMED)
def test_a_list_that_a_nested_magic_fills_is_put_back(shell: Shell, code: str) -> None:
    shell.names["x"] = x = [1]
    shell.run(f"%%fwtime -v found -q -n 3 -r 2\n{code}\n")
    assert x == [1, 3]
    assert "put-back" in {note.code for note in shell.names["found"].notes}


def test_arms_with_nested_magics_are_put_back(shell: Shell) -> None:
    shell.names["x"] = x = [1]
    shell.run("%%fwcompare -b 0.05\na: %time x.append(3)\nb: %timeit -n 1 -r 1 x.append(4)\n")
    assert x == [1, 4]  # each arm starts from [1], and the last one's first call is left


def test_an_iterator_behind_a_nested_magic_is_told(shell: Shell) -> None:
    shell.names.update(x=[1], z=iter(range(1000)))
    found = shell.run("%%fwtime -o -q -n 3 -r 2\n%time x = x + [2]\n%time next(z)\n")
    assert shell.names["x"] == [1, 2]  # a name that it binds is set back
    (note,) = [note for note in found.notes if note.code == "state-advanced"]
    assert note.text.startswith("'z' advanced by 6 calls")


@pytest.mark.parametrize("code", ["%time", "%time return 3", "%matplotlib --list", "%time x %"])
def test_what_is_no_code_is_left_to_its_magic(shell: Shell, code: str) -> None:
    shell.names["x"] = [1]
    found = shell.run(
        f"%%fwtime -o -q -n 1 -r 1\ntry:\n    {code}\nexcept SyntaxError:\n    pass\n"
    )
    assert found.loops == 1
    assert shell.names["x"] == [1]
