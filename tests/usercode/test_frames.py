"""Which expression of the user's code is being evaluated."""

import re
import subprocess
import sys
import traceback
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from types import CodeType
from typing import Any

import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.awaiting import run
from ipyjaxbench.usercode.frames import (
    called_name_in,
    expression_at,
    strip_hook_frames,
    strip_our_frames,
)
from ipyjaxbench.usercode.snippet import Source


def here(*_: object) -> tuple[int, str, str]:
    return expression_at(sys._getframe(1))


def evaluated(text: str, *, columns: bool = True) -> tuple[int, str, str]:
    """What is told of the call of ``here`` in a cell."""
    source, names = Source.plain(text), {"here": here}
    code = source.compiled()
    exec(code if columns else without_columns(code), names)
    found: tuple[int, str, str] = names["found"]
    return found


def without_columns(code: CodeType) -> CodeType:
    """Code as Python compiles it with ``-X no_debug_ranges``, all of it on the first line."""
    units = len(code.co_code) // 2
    entries = [(0x80 | 13 << 3 | min(units - at, 8) - 1, 0) for at in range(0, units, 8)]
    return code.replace(co_linetable=bytes(byte for entry in entries for byte in entry))


@pytest.mark.parametrize(
    ("text", "line", "expression"),
    [
        ("found = here()", 1, "here()"),
        ("\n\nx, found = 'é', here('ü')  # more", 3, "here('ü')"),
        ("x = 1\nfound = (here(\n    1,\n    2), 3)[0]", 2, "here( 1, 2)"),
    ],
)
def test_in_a_cell_it_has_its_line_and_no_function(text: str, line: int, expression: str) -> None:
    assert evaluated(text) == (line, expression, "")


def test_without_columns_it_is_the_line_and_without_a_text_its_number() -> None:
    assert evaluated("  \nfound = here()", columns=False)[1:] == ("", "")
    assert evaluated("found = here()  # it", columns=False) == (1, "found = here()  # it", "")
    names: dict[str, Any] = {"here": here}
    exec(compile("\nfound = here()", "<gone>", "exec"), names)
    assert names["found"] == (2, "", "")
    assert expression_at(None) == (0, "", "")  # outside of the user's code


def test_it_is_the_call_and_frames_of_libraries_are_looked_past() -> None:
    found: list[tuple[int, str, str]] = []

    def replaced(_: re.Match[str]) -> str:
        found.append(expression_at(sys._getframe(1)))
        return ""

    line = sys._getframe().f_lineno + 1
    direct, _ = here(1), re.sub("é", replaced, "é")
    name = "test_it_is_the_call_and_frames_of_libraries_are_looked_past"
    assert direct == (line, "here(1)", name)
    assert found == [(line, 're.sub("é", replaced, "é")', name)]


@pytest.mark.parametrize(
    ("text", "name"),
    [("np.asarray(x)", "asarray"), ("f(x)", "f"), ("f()(x)", ""), ("x + 1", ""), ("f(", "")],
)
def test_the_last_name_of_what_is_called_is_known(text: str, name: str) -> None:
    assert called_name_in(text) == name


def test_frames_of_this_package_are_left_out_of_a_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        run(Source.plain("def f():\n    1 / 0\nf()").compiled(), {})
    whole = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert whole[1:] == ["run", "<module>", "f"]
    trace = strip_hook_frames(raised.value.__traceback__)
    assert [frame.name for frame in traceback.extract_tb(trace)] == [whole[0], "<module>", "f"]
    assert strip_hook_frames(None) is None


def test_a_traceback_without_our_frames_ends_in_the_users_code() -> None:
    awaits = compile("await x", "<awaits>", "eval", PyCF_ALLOW_TOP_LEVEL_AWAIT)
    code = Source.plain("def f():\n    run(awaits, {})\nf()").compiled()
    with pytest.raises(SnippetError) as raised:
        run(code, {"run": run, "awaits": awaits})
    trace = strip_our_frames(raised.value.__traceback__)
    kept = [frame.name for frame in traceback.extract_tb(trace)]
    assert kept[1:] == ["<module>", "f"]
    assert strip_our_frames(None) is None


#: The collector runs while frames are made, and frees what is local to threads.
COLLECTS = """
import gc, threading
from ipyjaxbench.usercode import current_frames

class Kept:
    pass

def begun_threads(stop):
    at_work = threading.Barrier(9)
    def work():
        at_work.wait()
        stop.wait()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    at_work.wait()
    return threads

for more in range(14):
    stop = threading.Event()
    threads = begun_threads(stop)
    gc.collect()
    gc.disable()
    kept = Kept()
    kept.itself, kept.local = kept, threading.local()
    kept.local.value = 1
    del kept
    gc.set_threshold(gc.get_count()[0] + more)
    gc.enable()
    assert {each.ident for each in threads} <= {*current_frames()}
    assert gc.isenabled()
    stop.set()
    for each in threads:
        each.join()
"""


def test_frames_of_threads_are_found_while_there_is_garbage() -> None:
    """Before Python 3.12 `sys._current_frames` hangs in the third turn."""
    subprocess.run([sys.executable, "-c", COLLECTS], check=True, timeout=60)
