"""Errors of the user's code in one line."""

import pytest

from ipyjaxbench.usercode.error_messages import describe_error, message_of, shorten_message


class Mute(Exception):
    """Cannot say anything."""

    def __str__(self) -> str:
        raise RuntimeError("no")


LONG = "x" * 30  # as long as a line that says enough alone


@pytest.mark.parametrize(("message", "shown"), [
    (f"{LONG}\nmore", LONG),
    (f"{LONG[1:]}\nmore\nand more", f"{LONG[1:]} more"),
    (f"{LONG}:\n  more\nand more", f"{LONG}: more"),
    (f"{LONG};\nmore", f"{LONG}; more"),
    (f"short\n* {LONG}\nand more", f"short {LONG}"),
    ("", ""),
    (f"{'a' * 109} {'b' * 110}", f"{'a' * 109} {'b' * 110}"),
    (f"{'a' * 109} {'b' * 111}", f"{'a' * 109} …"),
])  # fmt: skip
def test_a_message_is_its_first_lines_that_say_enough(message: str, shown: str) -> None:
    assert shorten_message(ValueError(message)) == shown


@pytest.mark.parametrize(("error", "shown"), [
    (ValueError("wrong.\nbecause"), "ValueError: wrong"),
    (ValueError(), "ValueError"),
    (KeyError("k"), "KeyError: 'k'"),
    (Mute(), "Mute"),
    (ValueError(f"{'a' * 60} {'b' * 67}"), f"ValueError: {'a' * 60} {'b' * 67}"),
    (ValueError(f"{'a' * 60} {'b' * 68}"), f"ValueError: {'a' * 60} …"),
])  # fmt: skip
def test_an_error_is_its_class_and_its_first_line(error: Exception, shown: str) -> None:
    assert describe_error(error) == shown
    assert message_of(ValueError("one\ntwo")) == "one\ntwo"  # it is kept whole
    assert message_of(Mute()) == ""
