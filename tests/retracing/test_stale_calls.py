"""How long cached calls are looked at."""

from ipyjaxbench.retracing import stale_calls


def test_a_look_that_was_held_up_once_is_not_counted_and_two_in_a_row_are() -> None:
    known = stale_calls._Function((len,))
    at_first = known.left
    for taken in (10**9, 3, 10**9, 5):  # garbage was collected meanwhile
        known.count(taken)
    assert known.left == at_first - 3 - 3 - 5
    known.count(10**9)
    known.count(10**9)
    assert known.left < 0
