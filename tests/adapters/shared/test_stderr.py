"""Lines that native code writes to standard error are dropped, and all others passed on."""

import os
import re

import pytest

from ipyjaxbench.adapters.shared.stderr import drop_lines

DROPPED = re.compile(rb"[WI]\d{4} ")


def test_lines_that_begin_so_are_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    with drop_lines(DROPPED):
        os.write(2, b"W0101 noise\nreal W0101\nI0202 noise\nlast")
        assert capfd.readouterr().err == ""
    os.write(2, b"W0101 after\n")
    assert capfd.readouterr().err == "real W0101\nlastW0101 after\n"


def test_lines_are_passed_on_where_the_code_raises_and_no_file_stays_open(
    capfd: pytest.CaptureFixture[str],
) -> None:
    open_before = {*os.listdir("/dev/fd")}
    for _ in range(2):
        with pytest.raises(KeyError), drop_lines(DROPPED):
            raise KeyError(os.write(2, b"real\n"))
    assert {*os.listdir("/dev/fd")} == open_before
    assert capfd.readouterr().err == "real\n" * 2


def test_without_standard_error_nothing_is_dropped() -> None:
    real, ran = os.dup(2), False
    os.close(2)
    try:
        with drop_lines(DROPPED):
            ran = True
    finally:
        os.dup2(real, 2)
        os.close(real)
    assert ran
