"""A time within which code of the user's has to end, whether it stands in a file or in a fix."""

from contextlib import AbstractContextManager

from ipyjaxbench.adapters.shared.diagnosis.source_edit import MADE
from ipyjaxbench.usercode import OutOfTimeError as OutOfTimeError
from ipyjaxbench.usercode import deadline, is_users_file


def within(seconds: float, turns: int = 0) -> AbstractContextManager[None]:
    """See `usercode.deadline.within`."""
    return deadline.within(seconds, lambda f: f.startswith(MADE) or is_users_file(f), turns)
