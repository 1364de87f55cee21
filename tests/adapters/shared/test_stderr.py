"""Lines that native code writes to standard error are dropped, and all others passed on."""

import os
import re

import pytest

from ipyjaxbench.adapters.shared.stderr import drop_lines

DROPPED = re.compile(rb"[WI]\d{4} ")


def test_lines_that_begin_so_are_dropped_and_no_file_stays_open(
    capfd: pytest.CaptureFixture[str],
) -> None:
    open_before = {*os.listdir("/dev/fd")}
    with drop_lines(DROPPED):
        os.write(2, b"W0101 noise\nreal W0101\nI0202 noise\nlast")
        assert capfd.readouterr().err == ""
    os.write(2, b"W0101 after\n")
    with pytest.raises(KeyError), drop_lines(DROPPED):
        raise KeyError(os.write(2, b"real\n"))
    assert capfd.readouterr().err == "real W0101\nlastW0101 after\nreal\n"
    assert {*os.listdir("/dev/fd")} == open_before


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
