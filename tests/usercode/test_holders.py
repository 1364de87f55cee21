"""Where the user's objects are held, in words that can be typed."""

import sys
from typing import Any

from ipyjaxbench.usercode import users_names


def test_names_of_the_code_come_before_those_of_functions_and_of_their_files() -> None:
    module: dict[str, Any] = {"look": lambda: users_names(sys._getframe(1), {"more": 1})}
    exec(compile("def call(local): return look()", "<module>", "exec"), module)
    cell: dict[str, Any] = {"call": module["call"]}
    exec(compile("found = call(1)", "<cell>", "exec"), cell)
    first, main, local, *rest = cell["found"]
    assert first is cell
    assert main is vars(sys.modules["__main__"])
    assert local == {"local": 1}
    assert any(each is module for each in rest)
    assert rest[-1] == {"more": 1}
