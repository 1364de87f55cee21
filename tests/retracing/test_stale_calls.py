"""How long cached calls are looked at."""

from ipyjaxbench.retracing import stale_calls


def test_a_look_that_was_held_up_once_is_not_counted_and_two_in_a_row_are() -> None:
    known = stale_calls._Function(None, len)
    at_first = known.left
    for taken in (3, 5, 10**9):  # another program had the CPU: from here on by its own time
        known.count(taken)
    assert (known.left, known.is_slow) == (at_first - 3, True)
    for taken in (7, 10**9, 4):  # garbage was collected meanwhile
        known.count(taken)
    assert known.left == at_first - 3 - 5 - 7 - 4
    known.count(10**9)
    known.count(10**9)
    assert known.left < 0
