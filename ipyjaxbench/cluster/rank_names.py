"""Many ranks in a few words."""

from collections.abc import Sequence

from ipyjaxbench.device import shorten_numbers

_MAX_NAMES = 3  # of ranks without a number


def name_ranks(labels: Sequence[str]) -> str:
    """Return labels of ranks or engines, numbers of one kind together.

    Example:
        >>> name_ranks(["rank 0", "rank 1", "rank 2", "rank 5"]), name_ranks(["engine 3"])
        ('rank 0-2,5', 'engine 3')
    """
    numbers: dict[str, list[str]] = {}
    others: list[str] = []
    for label in labels:
        kind, _, number = label.rpartition(" ")
        if kind and number.isdigit():
            numbers.setdefault(kind, []).append(number)
        else:
            others.append(label)
    parts = [f"{kind} {','.join(shorten_numbers(own))}" for kind, own in numbers.items()]
    parts += others[:_MAX_NAMES]
    more = len(others) - _MAX_NAMES
    return ", ".join([*parts, f"{more} more"] if more > 0 else parts)
