"""Output that is kept from the notebook and counted."""

import subprocess
import sys

import pytest

from ipyjaxbench.usercode.output import Muted


def test_nothing_printed_reaches_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    print("before")
    with Muted():
        print("unseen")
        print("unseen too", file=sys.stderr, flush=True)
        sys.stdout.writelines(["a", "b"])
    print("after")
    captured = capsys.readouterr()
    assert captured.out == "before\nafter\n"
    assert captured.err == ""


def test_every_write_is_counted() -> None:
    with Muted() as muted:
        sys.stdout.write("one")
        sys.stderr.write("two")
        sys.stdout.writelines(["three", "four"])
    assert muted.writes == 4


def test_silence_is_counted_as_nothing() -> None:
    with Muted() as muted:
        sys.stdout.flush()
    assert muted.writes == 0


def test_a_write_tells_how_much_it_took() -> None:
    with Muted():
        assert sys.stdout.write("four") == 4
        assert sys.stdout.writable()


def test_streams_come_back_after_an_error() -> None:
    streams = sys.stdout, sys.stderr
    with pytest.raises(ZeroDivisionError), Muted():
        _ = 1 / 0
    assert (sys.stdout, sys.stderr) == streams


def test_the_streams_that_were_there_on_entry_come_back() -> None:
    muted = Muted()
    before = sys.stdout
    with muted, Muted() as inner:
        print("seen by the inner one only")
    assert sys.stdout is before
    assert inner.writes > 0
    assert muted.writes == 0


def test_one_can_be_used_again_and_goes_on_counting() -> None:
    muted = Muted()
    for _ in range(2):
        with muted:
            sys.stdout.write("x")
    assert muted.writes == 2


def test_what_is_muted_is_still_a_stream() -> None:
    with Muted() as muted:
        assert sys.stdout.encoding.lower().replace("-", "") == "utf8"
        sys.stdout.buffer.write(b"unseen")
        sys.stderr.flush()
        subprocess.run([sys.executable, "-S", "-c", "print(1)"], stdout=sys.stdout, check=True)
    assert muted.writes == 0


def test_who_keeps_the_stream_writes_to_the_real_one_afterwards(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Muted():
        kept = sys.stdout
        kept.write("unseen")
    kept.write("seen")
    kept.flush()
    assert capsys.readouterr().out == "seen"


def test_those_of_two_threads_may_end_in_any_order(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    first, second = Muted(), Muted()
    first.__enter__()
    second.__enter__()
    first.__exit__()
    sys.stdout.write("unseen")
    second.__exit__()
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr().out == ""
