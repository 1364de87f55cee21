"""What a call is given: its tensors, their names, and a function of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench.adapters.torch import trees
from ipyjaxbench.adapters.torch.compilation import original
from ipyjaxbench.errors import SnippetError, by_caller
from ipyjaxbench.usercode import Call, is_of, label_arguments


@dataclass(frozen=True)
class CallInputs:
    """A call whose tensors are known.

    Attributes:
        function: takes what `args` and `kwargs` are; of a module also its state.
        leaves: what all arguments hold, in their order.
        where: which of them are tensors.
        labels: what all of them are called.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    leaves: Sequence[Any]
    where: Sequence[int]
    labels: Sequence[str]

    @property
    def tensors(self) -> list[Any]:
        """The tensors among what is given."""
        return [self.leaves[index] for index in self.where]

    @property
    def names(self) -> list[str]:
        """What the tensors are called."""
        return [self.labels[index] for index in self.where]

    def with_tensors(self, tensors: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with other tensors in their places."""
        leaves = list(self.leaves)
        for index, tensor in zip(self.where, tensors, strict=True):
            leaves[index] = tensor
        tree = trees.structure((self.args, dict(self.kwargs)))
        args, kwargs = pytree.tree_unflatten(leaves, tree)
        return args, kwargs


def plain_call(call: Call) -> Call:
    """Return the call of what `torch.compile` was given; shapes become tensors nobody reads."""
    function: Any = call.function
    while (inner := original(function)) is not None:
        function = inner
    # Memory that nobody writes to is only promised: it costs nothing.
    call = call.with_arrays(lambda x: torch.empty(x.shape, dtype=getattr(torch, x.dtype)))
    named = call.labels
    if is_of(function, torch.nn.Module):  # its call takes all, and tells no names
        named = label_arguments(function.forward, call.args, call.kwargs)
    return replace(call, function=function, labels=named)


def inputs_of(call: Call) -> CallInputs:
    """Return what a plain call is given."""
    args, kwargs, named = call.args, dict(call.kwargs), tuple(call.labels)
    leaves = trees.leaves((args, kwargs))
    where = [index for index, leaf in enumerate(leaves) if is_of(leaf, torch.Tensor)]
    return CallInputs(call.function, args, kwargs, leaves, where, _names_of(args, kwargs, named))


def inputs_with_state(call: Call) -> CallInputs:
    """Return what a plain call is given, with the state of a module among it."""
    module: Any = call.function
    if not is_of(module, torch.nn.Module):
        return inputs_of(call)
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}

    def with_state(state: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.func.functional_call(module, state, args, kwargs)

    named = ("", *call.labels)
    return inputs_of(replace(call, function=with_state, args=(state, *call.args), labels=named))


def check_shapes(inputs: CallInputs, *, may_be_lazy: bool) -> None:
    """Refuse tensors whose shapes are not known before a call, or are no numbers.

    Raises:
        SnippetError: there is one.
    """
    for name, tensor in zip(inputs.names, inputs.tensors, strict=True):
        if tensor.is_nested:
            raise SnippetError(
                f"{name} is a nested tensor, and a graph needs rows of one length: pass what its"
                " .to_padded_tensor(0.0) gives"
            )
        if torch.nn.parameter.is_lazy(tensor) and not may_be_lazy:
            traces = by_caller("%fxgraph --dynamo", "stage='dynamo'")
            raise SnippetError(
                f"the parameter {name} has no shape before the first call of its module: call that"
                f" once, or use {traces}"
            )


def _names_of(args: Sequence[Any], kwargs: Mapping[str, Any], named: Sequence[str]) -> list[str]:
    return [
        _spelled(label, path)
        for label, value in [*zip(named, args, strict=True), *kwargs.items()]
        for path, _ in trees.leaves_with_paths(value)
    ]


def _spelled(label: str, path: Any) -> str:
    """Return ``weight`` of a module's own state, and ``batch['x']`` of an argument."""
    return label + pytree.keystr(path) if label else ".".join(str(key.key) for key in path)
