"""A function that may be traced only so often, compiled by dynamo."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from ipyjaxbench import OptionError, TooManyTracesError, assert_max_traces

# What dynamo sets when it is first used: a variable, and a warning's filter.
torch.compile(torch.sin, backend="eager")(torch.ones(1))


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    """Dynamo remembers code that it left to Python, by which other functions may be made."""
    torch._dynamo.reset()


def step(x: Any) -> Any:
    return x * 2


def around(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x) + 1


@pytest.mark.parametrize("is_part", [False, True])
@pytest.mark.parametrize("fullgraph", [False, True])
def test_one_that_dynamo_is_given_says_what_to_write(*, is_part: bool, fullgraph: bool) -> None:
    guarded = assert_max_traces(step, 1)
    x, told = torch.ones(2), re.escape("write assert_max_traces(torch.compile(step), 1)")
    given = around(guarded) if is_part else guarded
    compiled = torch.compile(given, backend="eager", fullgraph=fullgraph)
    for _ in range(2):
        with pytest.raises((OptionError, torch._dynamo.exc.Unsupported)) as raised:
            compiled(x)
        is_dynamos = is_part and fullgraph  # no part of a whole graph may stay in Python
        assert is_dynamos or re.search(told, str(raised.value))
    assert guarded(x).tolist() == [2, 2]  # it runs by itself


def test_of_one_that_is_compiled_calls_that_find_their_program_do_not_count() -> None:
    guarded = assert_max_traces(torch.compile(step, backend="eager"), 1)
    for _ in range(3):
        guarded(torch.ones(2))
    with pytest.raises(TooManyTracesError, match="`step` was traced 2 times, limit 1"):
        guarded(torch.ones(2, 2))
