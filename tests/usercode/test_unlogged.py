"""What code logs that runs to be looked at."""

import logging
import threading

import pytest

from ipyjaxbench.usercode import unlogged


def test_this_thread_logs_nothing_and_others_and_what_follows_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("user")
    handle = logging.Logger.handle
    with unlogged():
        logger.warning("aside")
        other = threading.Thread(target=logger.warning, args=("other",))
        other.start()
        other.join()
    logger.warning("after")
    assert caplog.messages == ["other", "after"]
    assert logging.Logger.handle is handle
