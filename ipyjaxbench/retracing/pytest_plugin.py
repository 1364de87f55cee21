"""For tests: a block of code in which only so much may be traced."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

#: pytest loads these with this one: `fwbench` stands in a room above.
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
