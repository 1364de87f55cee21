"""What a look at a call in PyTorch must not change: what it reaches, generators, settings."""

import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

import torch

from ipyjaxbench.adapters.shared.undo_log import Named, UndoLog
from ipyjaxbench.adapters.torch import tensors, trees
from ipyjaxbench.adapters.torch.tensors import is_lazy
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.frameworks import (
    DictNames,
    State,
    find_reach,
    read_environment,
    write_environment,
)
from ipyjaxbench.graphs import keep_random_state
from ipyjaxbench.usercode import Call, is_of, is_users_class, package_of

#: What belongs to the session, not to the call.
_NOT_ENTERED = {"IPython", "ipykernel", "ipyjaxbench", "traitlets", "zmq", *sys.stdlib_module_names}


@contextmanager
def keep_settings() -> Iterator[None]:
    """Put settings back afterwards; have PyTorch log nothing and warn of nothing meanwhile.

    What PyTorch loads here for the first time sets a variable and a warning's filter. It also logs
    each failure of a fake tensor with a traceback: the error says it too.
    """
    _refuse_after_tensorflow()
    variables = read_environment()
    with ExitStack() as stack:
        stack.enter_context(keep_random_state())
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(_silent())
        # A compiled function inside of the call would mark its code as one that is never compiled.
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            write_environment(variables)


def _refuse_after_tensorflow() -> None:
    """Raise where PyTorch, which imports triton to trace, would abort the process.

    TensorFlow makes the symbols of its LLVM visible to all libraries that are loaded after it, and
    triton's LLVM registers its options with them a second time. The other order is safe, and
    without triton PyTorch traces too.
    """
    is_there = "triton" in sys.modules or find_spec("triton") is None
    if "tensorflow" in sys.modules and not is_there:
        raise SnippetError(
            "tracing with PyTorch imports triton, which aborts the process after TensorFlow was"
            " imported (both bring LLVM): restart, and import triton before tensorflow"
        )


@contextmanager
def _silent() -> Iterator[None]:
    """Silence loggers of PyTorch, those that are made meanwhile among them."""
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


class TorchUndoLog(UndoLog):
    """What a call's function and arguments can reach by name, the tensors each once."""

    with_keys = True

    def __init__(self, call: Call) -> None:
        self.tensors: list[torch.Tensor] = []
        super().__init__([("self", call.function), *call.arguments])

    def is_tracer(self, value: Any) -> bool:
        """Whether a value is a tensor without data."""
        from torch._subclasses.fake_tensor import is_fake

        return is_of(value, torch.Tensor) and (
            is_fake(value) or torch._C._functorch.is_functorch_wrapped_tensor(value)
        )

    def leaves(self, tree: Any) -> list[Any]:
        """Return the leaves of a tree as PyTorch walks it."""
        return trees.leaves(tree)

    def is_entered(self, value: Any) -> bool:
        """Whether an object belongs to the call: libraries' modules hold what users put in."""
        return package_of(type(value)) not in _NOT_ENTERED or is_users_class(type(value))

    def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
        """Return what tensors, modules and optimizers hold."""
        if is_of(value, torch.Tensor):
            return self._look_at_tensor(name, value)
        if is_of(value, torch.nn.Module):
            return self._look_at_module(name if is_users_class(type(value)) else None, value)
        if is_of(value, torch.optim.Optimizer):  # to keep values is what it is for
            return self.look_at_object(None, value)
        return () if is_of(value, torch.dtype, torch.device) else None

    def _look_at_module(self, name: str | None, module: Any) -> list[Named]:
        self.hold(None, _Class(module))
        held = (module._parameters, module._buffers, module._modules)
        # No dictionaries to the user, but attributes.
        new = [each for each in held if self._is_new(each)]
        places = map(DictNames, new)
        pairs = [pair for each in places for pair in self.hold_names(name, ".", each)]
        return [*self.look_at_object(name, module), *pairs]

    def _look_at_tensor(self, name: str | None, tensor: torch.Tensor) -> list[Named]:
        self.tensors.append(tensor)
        if is_lazy(tensor):
            self.hold(None, _Class(tensor))
        pairs = self.hold_attributes(name, tensor)
        gradient = tensor.grad if tensor.is_leaf else None
        return [*pairs, (name and f"{name}.grad", gradient)]


class _Class(State):
    """The class of an object: lazy modules and parameters change it when they get their shapes."""

    def _read(self) -> list[type]:
        return [type(self._target)]

    def restore(self) -> None:
        """Set the old one."""
        self._target.__class__ = self._before[0]


@contextmanager
def undo_changes(call: Call, *, is_made: bool) -> Iterator[TorchUndoLog]:
    """Put back all that a call can reach; one that is made, not only traced, writes to tensors."""
    log = TorchUndoLog(call)
    with tensors.restore_tensors(log.tensors, is_made=is_made), log:
        yield log


def is_torchs(call: Call) -> bool:
    """Whether a call that is given no tensors computes with some, by what it calls or names."""
    if TorchUndoLog(call).tensors:
        return True
    used = find_reach([call.function], ()).functions
    return any(package_of(each) == "torch" for each in (*used, *call.args, *call.kwargs.values()))
