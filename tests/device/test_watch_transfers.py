"""What code copies, makes and gives up, by a framework whose copies are known."""

import operator
import sys
from functools import partial
from typing import Any

import pytest

from ipyjaxbench.device import Transfers, transfer_code
from ipyjaxbench.device.watch_transfers import transfers
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import Source
from tests.device.conftest import Frameworks
from tests.device.fake import Array, Library, Watch

INSIDE = "copies inside compiled programs; NumPy arrays that libraries pass to them"
AT_CALLS = (
    "NumPy arrays passed to compiled functions, and arrays that NumPy reads in place"
    " (`%%fwdevices` on a cell sees them)"
)
BODIES = "calls in functions that this cell defines, except array methods that copy"


def helper(value: Any) -> Any:
    """A function of the user's, with a call in it."""
    return abs(value)


@pytest.fixture
def names(frameworks: Frameworks, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A library that copies, and an array; all clocks are the device's."""
    monkeypatch.setattr(Clock, "elapsed", lambda: frameworks.fake.device.clock)
    monkeypatch.setattr(Watch, "_now", staticmethod(frameworks.fake.device.clock.now))
    return {"lib": Library(), "x": Array(8), "helper": helper}


def transfers_of(code: str, names: dict[str, Any]) -> Transfers:
    found, error = transfer_code(Source.plain(code), names)
    assert error is None
    return found


def test_copies_at_one_place_are_one_transfer(names: dict[str, Any]) -> None:
    found = transfers_of("for _ in range(3): lib.copy(x)", names)
    (copy,) = found.transfers
    assert (copy.framework, copy.source, copy.target) == ("fake", "fake:0", "host")
    assert (copy.times, copy.nbytes, copy.dtype, copy.shape) == (3, 24, "int8", (8,))
    # A millisecond until the array is there, two for the copy and one until that is there.
    assert (copy.waited, copy.seconds) == (pytest.approx(0.003), pytest.approx(0.009))
    assert found.seconds == pytest.approx(0.012)
    assert (found.code, found.frameworks) == ("for _ in range(3): lib.copy(x)", {"fake": "1.0"})


def test_the_time_of_all_is_known_where_that_of_each_is(names: dict[str, Any]) -> None:
    for before, after in ((True, False), (False, True)):
        names["lib"].is_timed = before
        code = f"lib.copy(x)\nlib.is_timed = {after}\nlib.copy(x)"
        (copy,) = transfers_of(code, names).transfers
        assert (copy.times, copy.seconds) == (2, None)
    names["y"] = Array(4)  # copies of other data are transfers of their own
    found = transfers_of("lib.copy(x); lib.copy(y); lib.copy(x)", names)
    assert [(each.nbytes, each.times) for each in found.transfers] == [(16, 2), (4, 1)]


def test_work_of_before_and_measuring_are_not_the_codes(
    frameworks: Frameworks, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(self: Watch, old: Any, library: Library, array: Any) -> Any:
        self.measuring += 500_000
        return old(library, array)

    device = names["device"] = frameworks.fake.device
    device.start(dispatch=0, work=5_000_000)
    found = transfers_of("device.start(dispatch=0, work=3_000_000)", names)
    assert found.seconds == pytest.approx(0.003)
    assert frameworks.fake.drains == 2
    monkeypatch.setattr(Watch, "_copy", copy)
    assert transfers_of("lib.copy(x)", names).seconds == pytest.approx(0.0015)


def test_what_was_made_and_freed_is_named(frameworks: Frameworks, names: dict[str, Any]) -> None:
    fake = frameworks.fake
    names |= {"Array": Array, "old": Array(16), "change": partial(setattr, fake)}
    found = transfers_of("y = Array(4)\ndel old", names)
    assert [(each.name, each.nbytes) for each in found.created] == [("y", 4)]
    assert [(each.name, each.nbytes) for each in found.freed] == [("old", 16)]
    assert (found.frameworks, found.memory) == ({"fake": "1.0"}, {})
    assert transfers_of("pass", names).frameworks == {}
    fake.used = 100  # memory is told before and after where the device tells
    assert transfers_of("change('used', 300)", names).memory == {"fake fake:0": (100, 300)}
    fake.has_started = False
    assert transfers_of("change('used', 500)", names).memory == {}
    assert transfers_of("change('has_started', True)", names).memory == {}


def test_what_is_not_seen_is_said(frameworks: Frameworks, names: dict[str, Any]) -> None:
    define = "def g(): pass"
    assert transfers_of("pass", names).unseen == (INSIDE,)
    assert transfers_of(define, names).unseen == (INSIDE,)
    assert transfers_of("lib.copy(x)", names).unseen == ("what nobody sees", INSIDE)
    frameworks.fake.reads = True
    assert transfers_of(define, names).unseen == (BODIES, INSIDE)
    assert transfers_of("pass", names).unseen == (INSIDE,)


def called(*functions: object) -> list[bool]:
    """Which of these the frameworks looked at."""
    found = [function for function, _ in Library.calls]
    return [any(each is function for each in found) for function in functions]


def test_calls_are_looked_at_but_for_those_of_numbers(names: dict[str, Any]) -> None:
    transfers_of("a = 1 + 2\nb = 'a' * 3\nc = max(1, 2)\nd = 2.0 < 3\nabs(-1)", names)
    assert called(operator.add, operator.mul, max, abs) == [False, False, False, True]
    Library.calls.clear()
    names["n"] = None
    transfers_of("max(1, 2, key=abs)\nmax(1, 2, 3)\n[1] + [2]\nsum([1], 2)", names)
    assert called(operator.add, max, sum) == [True, True, True]
    assert (max, [1, 2, abs]) in Library.calls


def test_the_users_functions_are_looked_into(names: dict[str, Any]) -> None:
    before = helper.__code__
    for code in ("helper(-1)", "list(map(lambda v: helper(v), [-1]))"):
        Library.calls.clear()
        transfers_of(code, names)
        assert called(abs) == [True]
        assert helper.__code__ is before
    transfers_of("def g(v): return abs(v)", names)
    Library.calls.clear()
    assert (names["g"](-3), Library.calls) == (3, [])  # after the code nothing is looked at
    assert Library.copy.__qualname__ == "Library.copy"


def test_functions_that_are_to_be_compiled_are_as_they_were(
    frameworks: Frameworks, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frameworks that read code get that of the user, and decorators may compile all they name."""
    before, codes = helper.__code__, []
    names["note"] = lambda: codes.append(helper.__code__ is before)
    cell = "note()\nsorted([], key=helper)\nnote()"
    transfers_of(cell, names)
    frameworks.fake.reads = True
    transfers_of(cell, names)
    transfers_of(f"class A:\n    @property\n    def p(self): pass\n{cell}", names)
    assert codes == [False, False, False, True, True, True]
    assert helper.__code__ is before


def test_what_was_copied_before_an_error_is_kept(names: dict[str, Any]) -> None:
    found, error = transfer_code(Source.plain("lib.copy(x)\nx / 0"), names)
    assert isinstance(error, TypeError)
    assert found.error.startswith("TypeError: unsupported operand type")
    assert found.copied == 8
    assert error.__traceback__ is not None
    assert error.__traceback__.tb_frame.f_code.co_name == "<module>"
    names["stop"] = sys.exit
    found, ended = transfer_code(Source.plain("lib.copy(x)\nstop()"), names)
    assert isinstance(ended, SystemExit)
    assert (found.error, found.copied) == ("SystemExit", 8)


def test_a_block_is_watched_with_the_names_around_it(names: dict[str, Any]) -> None:
    lib, x = names["lib"], names["x"]
    with transfers() as block:
        assert block.transfers == Transfers("the block", 0.0)
        made = Array(2)
        lib.copy(x)
        block._recorder._frameworks[0].live.append(Array(1))  # the watch is not looked through
    found = block.transfers
    assert (found.code, found.copied, found.error) == ("the block", 8, "")
    assert [(each.name, each.nbytes) for each in found.created] == [("made", made.nbytes), ("", 1)]
    assert found.unseen == ("what nobody sees", AT_CALLS, INSIDE)
    with pytest.raises(KeyError), transfers() as block:
        raise KeyError("a")
    assert (block.transfers.error, block.transfers.seconds) == ("KeyError: 'a'", 0.0)
