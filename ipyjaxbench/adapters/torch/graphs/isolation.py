"""What a look at a program must not change: generators, variables, filters, loggers."""

import logging
import os
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from ipyjaxbench.adapters.torch.graphs.triton import refuse_after_tensorflow


@contextmanager
def as_before() -> Iterator[None]:
    """Whatever is set here is set back; PyTorch logs nothing and warns of nothing.

    What PyTorch loads here for the first time sets a variable and a warning's filter. It also logs
    each failure of a fake tensor with a traceback: the error tells it too.

    Raises:
        SnippetError: what PyTorch loads to look would abort the process.
    """
    refuse_after_tensorflow()
    variables = dict(os.environ)
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(_cuda_devices()))
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(_silent())
        stack.enter_context(_other_generators())
        # A compiled function inside of the call would mark its code as one that is never compiled.
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            for name in set(os.environ) - set(variables):
                del os.environ[name]
            os.environ.update({n: v for n, v in variables.items() if os.environ.get(n) != v})


def _cuda_devices() -> list[int]:
    return list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []


@contextmanager
def _silent() -> Iterator[None]:
    """Loggers of PyTorch, those that are made meanwhile among them."""
    before = {name: logger.disabled for name, logger in _loggers()}
    for _, logger in _loggers():
        logger.disabled = True
    try:
        yield
    finally:
        for name, logger in _loggers():
            logger.disabled = before.get(name, False)


def _loggers() -> list[tuple[str, logging.Logger]]:
    known = list(logging.root.manager.loggerDict.items())
    return [(name, each) for name, each in known
            if isinstance(each, logging.Logger) and name.partition(".")[0] == "torch"]  # fmt: skip


@contextmanager
def _other_generators() -> Iterator[None]:
    """Python's and NumPy's: a call that is made may draw from them."""
    numpy: Any = getattr(sys.modules.get("numpy"), "random", None)
    states = random.getstate(), numpy.get_state() if numpy else None
    try:
        yield
    finally:
        random.setstate(states[0])
        if numpy:
            numpy.set_state(states[1])
