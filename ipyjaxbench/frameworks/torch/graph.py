"""The graph of a call in PyTorch: its ATen operations, found with tensors that have no data."""

import logging
import operator
import os
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench.clock import Clock
from ipyjaxbench.diagnosis import Diagnosis, UntraceableError
from ipyjaxbench.expression import Call, Shape, labels
from ipyjaxbench.graph import Graph
from ipyjaxbench.graph_parts import Count, Value
from ipyjaxbench.options import GraphOptions

_CLOCK = Clock.elapsed()
_FIRST, _LAST = 60, 15  # operations that a long text shows
_BECAUSE = {
    "DataDependentOutputException": "a Python number is made of a tensor's value, and while tracing"
    " there are only shapes",
    "GuardOnDataDependentSymNode": "if, while or a shape asks for a tensor's value, and while"
    " tracing there are only shapes",
    "DynamicOutputShapeException": "the shape of a result depends on values, and shapes are fixed"
    " before values exist",
}
_ADVICE = {
    "DataDependentOutputException": "torch.where for if; keep the number as a tensor",
    "GuardOnDataDependentSymNode": "torch.where, or torch.cond",
    "DynamicOutputShapeException": "torch.where(mask, x, 0), which keeps the shape",
}


def graph(call: Call, options: GraphOptions) -> Graph | None:
    """Trace a call with fake tensors and tell which operations it is.

    Args:
        call: it is not made.
        options: how much of the text is wanted.

    Returns:
        The graph; None where there is no tensor in the call.

    Raises:
        UntraceableError: it depends on values.
    """
    __tracebackhide__ = True
    call = replace(call, args=tuple(map(_without_data, call.args)))
    function, args, kwargs, names = _with_parameters(call)
    leaves, tree = pytree.tree_flatten((args, dict(kwargs)))
    where = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    if not where:
        return None
    stage = options.stage_of("torch")

    def of_tensors(*tensors: Any) -> Any:
        whole = list(leaves)
        for index, tensor in zip(where, tensors, strict=True):
            whole[index] = tensor
        positional, named = pytree.tree_unflatten(whole, tree)
        return [t for t in pytree.tree_leaves(function(*positional, **named))
                if isinstance(t, torch.Tensor)]  # fmt: skip

    start = _CLOCK.now()
    try:
        with _as_before():
            traced, fakes, counted = _traced(of_tensors, [leaves[index] for index in where])
    except Exception as error:
        raise UntraceableError(_diagnosis(call, error), error) from error
    seconds = (_CLOCK.now() - start) * 1e-9
    nodes = [node for node in traced.graph.nodes if node.op == "call_function"]
    outputs = next(node for node in traced.graph.nodes if node.op == "output").args[0]
    placeholders = (node for node in traced.graph.nodes if node.op == "placeholder")
    given = dict(zip(placeholders, names(where), strict=False))
    flops = {str(op): float(n) for op, n in counted.items()}
    text = _listing(nodes, given, outputs)
    if options.find is not None:
        text = "\n".join(line for line in text.splitlines() if options.find in line)
    return Graph(
        code=call.text,
        framework="torch",
        frameworks={"torch": str(torch.__version__)},
        form=stage,
        program=text,
        inputs=tuple(_value(name, fake) for name, fake in zip(names(where), fakes, strict=True)),
        outputs=tuple(_value("", node.meta["val"]) for node in outputs if _has_value(node)),
        constants=tuple(_value(n.target, getattr(traced, n.target))
                        for n in traced.graph.nodes if n.op == "get_attr"
                        and isinstance(getattr(traced, n.target), torch.Tensor)),
        operations=len(nodes),
        flops=sum(flops.values()),
        uncounted=("products and convolutions alone: PyTorch counts no others",),
        stats=_counts(nodes, flops),
        lines=(),
        static_argnames=(),
        fixed=(),
        tries=1,
        seconds=seconds,
    )  # fmt: skip


def _traced(
    function: Callable[..., Any], tensors: Sequence[Any]
) -> tuple[Any, list[Any], Mapping[Any, int]]:
    """The graph of a function of tensors, those without their data, and the FLOP of operations."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils.flop_counter import FlopCounterMode

    counter, mode = FlopCounterMode(display=False), FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        fakes = [mode.from_tensor(tensor) for tensor in tensors]
        with counter:
            traced = make_fx(function, tracing_mode="real")(*fakes)
    return traced, fakes, counter.get_flop_counts().get("Global", {})


def _without_data(value: object) -> object:
    if isinstance(value, Shape):
        # Memory that nobody writes to is only promised: it costs nothing.
        return torch.empty(value.shape, dtype=getattr(torch, value.dtype))
    return value


_Names = Callable[[Sequence[int]], list[str]]


def _with_parameters(
    call: Call,
) -> tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], _Names]:
    """The call with a module's parameters as inputs of their own."""
    function = getattr(call.function, "_torchdynamo_orig_callable", call.function)
    function = getattr(function, "_orig_mod", function)
    if not isinstance(function, torch.nn.Module):
        return function, call.args, call.kwargs, _names_of(call.args, call.kwargs, call.labels)
    state = {**dict(function.named_parameters()), **dict(function.named_buffers())}

    def with_state(state: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.func.functional_call(function, state, args, kwargs)

    args = (state, *call.args)
    named = labels(function.forward, call.args, call.kwargs)
    return with_state, args, call.kwargs, _names_of(args, call.kwargs, ("", *named))


def _names_of(args: tuple[Any, ...], kwargs: Mapping[str, Any], named: tuple[str, ...]) -> _Names:
    found = [
        _spelled(label, path)
        for label, value in [*zip(named, args, strict=True), *kwargs.items()]
        for path, _ in pytree.tree_flatten_with_path(value)[0]
    ]
    return lambda where: [found[index] for index in where]


def _spelled(label: str, path: Any) -> str:
    """``weight`` of a module's own state, and ``batch['x']`` of an argument."""
    return label + pytree.keystr(path) if label else ".".join(str(key.key) for key in path)


@contextmanager
def _as_before() -> Iterator[None]:
    """What PyTorch loads here for the first time sets a variable and a warning's filter.

    It also logs each failure of a fake tensor with a traceback: the error tells it too.
    """
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    silent, logger.disabled = logger.disabled, True
    variables = set(os.environ)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        logger.disabled = silent
        for name in set(os.environ) - variables:
            del os.environ[name]


def _diagnosis(call: Call, error: Exception) -> Diagnosis:
    frames = traceback.extract_tb(error.__traceback__)
    mine = [f for f in frames if "/torch/" not in f.filename and "ipyjaxbench" not in f.filename]
    kind = type(error).__name__
    return Diagnosis(
        code=call.text,
        error=kind,
        message=(str(error).strip().splitlines() or [""])[0],
        line=(mine[-1].lineno or 0) if mine else 0,
        source=(mine[-1].line or "") if mine else "",
        because=_BECAUSE.get(kind, "the code raises while it is traced"),
        advice=_ADVICE.get(kind, ""),
    )


def _value(name: str, tensor: Any) -> Value:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Value(name, dtype, tuple(map(int, tensor.shape)), tensor.numel() * tensor.element_size())


def _has_value(node: Any) -> bool:
    return isinstance(getattr(node, "meta", {}).get("val"), torch.Tensor)


def _listing(nodes: Sequence[Any], given: Mapping[Any, str], outputs: Sequence[Any]) -> str:
    from ipyjaxbench import units

    def spelled(value: Any) -> str:
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(spelled, value))}]"
        return given.get(value, str(value)) if isinstance(value, torch.fx.Node) else repr(value)

    lines = []
    for node in nodes:
        arguments = [*map(spelled, node.args)]
        arguments += [f"{key}={spelled(value)}" for key, value in node.kwargs.items()]
        kind = ""
        if _has_value(node):
            value = node.meta["val"]
            kind = ": " + units.array(str(value.dtype).removeprefix("torch."), value.shape)
        name = _operation(node)
        lines.append(f"{node.name}{kind} = {name}({', '.join(arguments)})")
    if len(lines) > _FIRST + _LAST:
        hidden = len(lines) - _FIRST - _LAST
        lines[_FIRST:-_LAST] = [f"... {hidden:,} more operations ..."]
    return "\n".join([*lines, f"return {', '.join(map(spelled, outputs))}"])


def _operation(node: Any) -> str:
    """``aten.mm`` without the name of its overload, where that is the default one."""
    return (
        getattr(node.target, "__name__", "")
        if node.target is operator.getitem
        else (str(node.target).removesuffix(".default"))
    )


def _counts(nodes: Sequence[Any], flops: Mapping[str, float]) -> tuple[Count, ...]:
    times = Counter(_operation(node) for node in nodes)
    ranked = sorted(times, key=lambda name: (-flops.get(name, 0.0), -times[name], name))
    return tuple(Count(name, times[name], flops.get(name, 0.0)) for name in ranked)
