"""What pytest loads in each run: it imports the rooms behind a fixture when a test asks for it."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

pytest_plugins = ("ipyjaxbench.benchmarks.pytest_plugin",)


@pytest.fixture
def max_traces() -> Callable[[int], AbstractContextManager[object]]:
    """Fail when more than ``n`` functions are traced or compiled in a block.

    Returns:
        A function of ``n`` that gives a context manager.

    Example:
        >>> # def test_step(max_traces):
        >>> #     with max_traces(1):
        >>> #         step(x); step(x)
    """
    from ipyjaxbench.retracing.max_traces import trace_cached

    return trace_cached
