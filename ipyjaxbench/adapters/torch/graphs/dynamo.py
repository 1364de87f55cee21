"""What torch.compile sees of a call: its FX graphs, and where they break."""

import contextlib
import dis
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType
from typing import Any

import torch

from ipyjaxbench.adapters.torch import tensors, trees
from ipyjaxbench.adapters.torch.graphs import dynamo_frames, dynamo_state, isolation
from ipyjaxbench.adapters.torch.graphs.arguments import inputs_with_state
from ipyjaxbench.adapters.torch.graphs.captured import CapturedGraphs
from ipyjaxbench.adapters.torch.graphs.dynamo_frames import Analysis
from ipyjaxbench.adapters.torch.graphs.program import (
    Place,
    Program,
    innermost_place,
    is_outside_torch,
    places_in,
    value_of,
)
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import Break, line_of, notes
from ipyjaxbench.usercode import Call

_MAX_CALLS = 4  # each finds functions that ran behind a break of the one before
_SOURCE = re.compile(r"[LG]\['(\w+)'\]")
_PART = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_EXPLAINED = re.compile(r"Explanation: (.+?)(?:\.(?= [A-Z]|$)|$)", re.MULTILINE)
_OF_FUNC = "torch.vmap or torch.func calls it: compile the function that calls these instead"
_BECAUSE = (
    ("generic_jump", "Python's if or while needs a tensor's value"),
    ("Data-dependent branching", "Python's if or while needs a tensor's value"),
    ("Tensor.item()", "a Python number needs a tensor's value"),
    ("Dynamic shape operator", "the shape of a result depends on the data"),
    ("Unsupported functorch", _OF_FUNC),
    ("If you are reaching here", _OF_FUNC),  # the same in older versions
)


def trace(call: Call) -> CapturedGraphs:
    """Return the graphs that torch.compile would make of a plain call, with breaks between them.

    The call is not made where all of it is one graph. Behind a break Python goes on with values:
    then it is made, on copies of its tensors.
    """
    return find_single_graph(call) or _made(call)


def trace_whole(call: Call) -> CapturedGraphs:
    """Return what `torch.compile(..., fullgraph=True)` makes of a plain call, or would break."""
    with contextlib.suppress(*CODE_ERRORS):  # there is no such graph
        if (found := find_single_graph(call, whole=True)) is not None:
            return found
    return trace(call)


def find_single_graph(call: Call, *, whole: bool = False) -> CapturedGraphs | None:
    """Return the one graph of a call, which is not made; None where there are more."""
    ready = _prepared(call)
    analysis = _analyse(call, ready, stop=True, whole=whole)
    if len(analysis.graphs) != 1 or analysis.breaks or analysis.skipped:
        return None
    return CapturedGraphs.single(analysis.graphs[0], _program(analysis.graphs[0], call, ready.root))


def _made(call: Call) -> CapturedGraphs:
    """Make a call, again until all functions in it were analysed; return its graphs."""
    more: list[FunctionType] = []
    times = 0
    while True:
        times += 1
        copied = tensors.call_with_copies(call)
        ready = _prepared(copied)
        with contextlib.redirect_stdout(io.StringIO()) as printed, isolation.keep_settings():
            analysis = _analyse(copied, ready, more)
        new = (
            dynamo_frames.functions_of(list(analysis.strangers.values()))
            if analysis.strangers
            else []
        )
        if not new or times == _MAX_CALLS:
            break
        more += new
    sys.stdout.write(printed.getvalue())
    inputs = inputs_with_state(call)
    leaves = trees.leaves(analysis.result)
    return CapturedGraphs(
        program=tuple(analysis.graphs),
        programs=[_program(graph, call, ready.root) for graph in analysis.graphs],
        inputs=tuple(value_of(*each) for each in zip(inputs.names, inputs.tensors, strict=True)),
        outputs=tuple(value_of("", leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)),
        breaks=tuple(dict.fromkeys([*_breaks(analysis, ready.first.__code__), *_unseen(new)])),
        notes=(notes.call_made(times),),
        tries=times + 1,
    )


def _analyse(
    call: Call,
    ready: "_Prepared",
    more: Sequence[FunctionType] = (),
    *,
    stop: bool = False,
    whole: bool = False,
) -> Analysis:
    """Have dynamo analyse a call and further functions; see `dynamo_frames.analyse`."""
    with (
        dynamo_state.keep_records(),
        isolation.undo_changes(call, is_made=not stop),
        dynamo_frames.replace_code([ready.first, *more]) as codes,
    ):
        made = replace(call, function=ready.function)
        return dynamo_frames.analyse(made, codes, stop=stop, whole=whole)


@dataclass(frozen=True)
class _Prepared:
    """What dynamo is to meet: what is called, the function met first, and its own first name."""

    function: Callable[..., Any]
    first: FunctionType
    root: str = ""


def _prepared(call: Call) -> _Prepared:
    function: Any = call.function
    is_module = isinstance(function, torch.nn.Module)
    first = function.forward if is_module else function
    if not dynamo_frames.is_analysed(first):  # PyTorch's own, or no Python at all: one around it is
        around: Any = _around(function)
        return _Prepared(around, around, "function")
    plain: Any = getattr(first, "__func__", first)
    return _Prepared(function, plain, plain.__code__.co_varnames[0] if is_module else "")


def _around(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def _program(graph: Any, call: Call, root: str) -> Program:
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    names = {node: _name_of(node).removeprefix(f"{root}.") for node in placeholders}
    if root == "function":
        labels = {f"args[{index}]": label for index, label in enumerate(call.labels)}
        names = {node: labels.get(name, name) for node, name in names.items()}
    return Program(graph, names)


def _name_of(node: Any) -> str:
    """Return ``self.first.weight`` of ``L['self']._modules['first']._parameters['weight']``."""
    source = getattr(node, "_dynamo_source", None)
    name = getattr(source, "name", None)
    name = name() if callable(name) else name
    if not isinstance(name, str):
        return str(node.name)
    return _PART.sub(r".\1", _SOURCE.sub(r"\1", name)).replace("___stack", "stack")


def _breaks(analysis: Analysis, first: CodeType) -> Iterator[Break]:
    for each in analysis.breaks:
        yield _break(((f.filename, f.lineno or 0) for f in each.user_stack), first, each.reason)
    for code, reason in analysis.skipped:
        if not is_outside_torch(code.co_filename):  # what we put around PyTorch's own: see above
            continue
        resumed = dynamo_frames.RESUMED.fullmatch(code.co_name)
        what = f"the rest of {resumed[1]}" if resumed else f"all of {code.co_name}"
        graph_break = _break(places_in(reason), code, reason)
        yield replace(graph_break, because=f"{graph_break.because}; Python runs {what}")


def _asked_for(code: CodeType) -> Place:
    """Return where code asks for a break, as far as it says; else where it begins."""
    if not is_outside_torch(code.co_filename):
        return "", 0
    named = (each for each in dis.get_instructions(code) if each.argval == "graph_break")
    lines = (each.positions.lineno for each in named if each.positions)
    return code.co_filename, next(filter(None, lines), code.co_firstlineno)


def _unseen(functions: Sequence[FunctionType]) -> Iterator[Break]:
    """Yield a break for each function that was met in the last call that is made."""
    for function in functions:
        place = function.__code__.co_filename, function.__code__.co_firstlineno
        because = "ran after a graph break and was not analyzed"
        yield Break(place[1], line_of(*place), because)


def _break(places: Iterable[Place], code: CodeType, reason: str) -> Break:
    place = innermost_place(places) or _asked_for(code)
    return Break(place[1], line_of(*place), describe_break(reason))


def describe_break(reason: str) -> str:
    """Return dynamo's reason in one sentence."""
    for known, because in _BECAUSE:
        if known in reason.partition("\n")[0]:
            return because
    explained = _EXPLAINED.search(reason)
    if explained:
        return explained[1]
    first, _, rest = reason.strip().partition("\n")
    return f"{first} {rest.partition(chr(10))[0]}" if first.endswith(" raised:") else first
