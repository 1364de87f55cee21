"""Keeps what a framework's native code logs off standard error, where no Python stream sees it."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_ERR = 2


@contextmanager
def drop_lines(dropped: re.Pattern[bytes]) -> Iterator[None]:
    """Drop lines that begin with this and are written meanwhile; pass on all others at the end."""
    try:
        real = os.dup(_ERR)
    except OSError:  # there is no standard error
        yield
        return
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), _ERR)
        try:
            yield
        finally:
            os.dup2(real, _ERR)
            os.close(real)
            caught.seek(0)
            others = b"".join(line for line in caught if not dropped.match(line))
            if others:
                os.write(_ERR, others)
