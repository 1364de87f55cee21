"""Keeps from standard error what TensorFlow's profiler logs of itself."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_STDERR = 2
_OF_PROFILER = re.compile(rb"I\d{4} .*\b(profiler_session|save_profile)\.cc:\d+\]")


@contextmanager
def unlogged() -> Iterator[None]:
    """A context whose code may log of profiling; all else that is written is passed on after it.

    C++ writes these lines past `sys.stderr`, and reads the level from which it logs once, when
    TensorFlow is imported.
    """
    try:
        stderr = os.dup(_STDERR)
    except OSError:  # it is closed: there is nothing to keep clean
        yield
        return
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(stderr, _STDERR)
            os.close(stderr)
            written.seek(0)
            others = b"".join(line for line in written if not _OF_PROFILER.match(line))
            if others:
                os.write(_STDERR, others)
