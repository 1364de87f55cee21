"""A time within which code of the user's has to end, whether it stands in a file or in a fix."""

from contextlib import AbstractContextManager

from ipyjaxbench.adapters.jax.origin import is_users
from ipyjaxbench.adapters.shared.diagnosis.source_edit import MADE
from ipyjaxbench.usercode import deadline
from ipyjaxbench.usercode.deadline import OutOfTimeError as OutOfTimeError


def within(seconds: float, turns: int = 0) -> AbstractContextManager[None]:
    """See `usercode.deadline.within`."""
    return deadline.within(seconds, lambda file: file.startswith(MADE) or is_users(file), turns)
