"""A time within which code of the user's has to end, whether it stands in a file or in a fix."""

from contextlib import AbstractContextManager

from ipyjaxbench.frameworks import _deadline
from ipyjaxbench.frameworks._deadline import OutOfTimeError as OutOfTimeError
from ipyjaxbench.frameworks.jax.users import MADE, is_users


def within(seconds: float, turns: int = 0) -> AbstractContextManager[None]:
    """See `_deadline.within`."""
    return _deadline.within(seconds, lambda file: file.startswith(MADE) or is_users(file), turns)
