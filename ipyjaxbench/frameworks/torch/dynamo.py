"""What torch.compile sees of a call: its FX graphs, and where they break."""

import contextlib
import io
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ipyjaxbench import notes
from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.torch import frames, given, records, tensors
from ipyjaxbench.frameworks.torch.found import Found
from ipyjaxbench.frameworks.torch.frames import Seen
from ipyjaxbench.frameworks.torch.program import Program, is_users, told
from ipyjaxbench.graph_parts import Break

_MOST_CALLS = 4  # each finds functions that ran behind a break of the one before
_SOURCE = re.compile(r"[LG]\['(\w+)'\]")
_PART = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_EXPLAINED = re.compile(r"Explanation: (.+?)(?:\.(?: |$)|$)", re.MULTILINE)
_BECAUSE = (
    ("generic_jump", "if or while asks for a tensor's value"),
    ("Data-dependent branching", "if or while asks for a tensor's value"),
    ("Tensor.item()", "a Python number is made of a tensor's value"),
    ("Dynamic shape operator", "the shape of a result depends on values"),
)


def trace(call: Call) -> Found:
    """The graphs that torch.compile would make of a call.

    Args:
        call: a plain one. It is not made where all of it is one graph. Behind a break Python goes
            on with values: then it is made, on copies of its tensors.

    Returns:
        The graphs, with the breaks between them.
    """
    return unbroken(call) or _made(call)


def unbroken(call: Call) -> Found | None:
    """The one graph of a call, which is not made; None where there are more."""
    run, functions = _prepared(call)
    with records.put_back(), frames.stand_ins(functions) as codes:
        seen = frames.watched(run, codes, stop=True)
    if len(seen.graphs) != 1 or seen.breaks or seen.skipped:
        return None
    return Found.whole(seen.graphs[0], _program(seen.graphs[0]))


def _made(call: Call) -> Found:
    """The graphs of a call that is made, again until all functions in it were looked at."""
    more: list[FunctionType] = []
    for times in range(1, _MOST_CALLS + 1):
        copied = tensors.on_copies(call)
        run, functions = _prepared(copied)
        result: list[Any] = []
        printed = io.StringIO()
        with (
            contextlib.redirect_stdout(printed), torch.random.fork_rng(devices=[]),
            records.put_back(), tensors.put_back(copied),
            frames.stand_ins([*functions, *more]) as codes,
        ):  # fmt: skip
            seen = frames.watched(lambda run=run: result.append(run()), codes, stop=False)  # type: ignore[misc]
        new = frames.owners(list(seen.strangers.values())) if seen.strangers else []
        if not new:
            break
        more += new
    sys.stdout.write(printed.getvalue())
    leaves = (leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))
    inputs = given.with_state(call)
    return Found(
        program=tuple(seen.graphs),
        programs=[_program(graph) for graph in seen.graphs],
        inputs=tuple(told(*each) for each in zip(inputs.names, inputs.tensors, strict=True)),
        outputs=tuple(told("", leaf) for leaf in leaves),
        breaks=tuple(dict.fromkeys(_breaks(seen))),
        notes=(notes.call_made(times),),
        tries=times + 1,
    )


def _prepared(call: Call) -> tuple[Callable[[], Any], Sequence[FunctionType]]:
    """The call as dynamo is to meet it, and the function that it meets first."""
    function = call.function
    first = function.forward if isinstance(function, torch.nn.Module) else function
    if not frames.is_looked_at(first):  # PyTorch's own, or no Python at all: one around it is

        def first(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        function = first
    plain = first.__func__ if isinstance(first, MethodType) else first
    return lambda: function(*call.args, **call.kwargs), [plain]


def _program(graph: Any) -> Program:
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return Program(graph, {node: _name_of(node) for node in placeholders})


def _name_of(node: Any) -> str:
    """``self.first.weight`` of ``L['self']._modules['first']._parameters['weight']``."""
    source = getattr(node, "_dynamo_source", None)
    name = getattr(source, "name", None)
    name = name() if callable(name) else name
    if not isinstance(name, str):
        return str(node.name)
    return _PART.sub(r".\1", _SOURCE.sub(r"\1", name)).replace("___stack", "stack")


def _breaks(seen: Seen) -> Iterator[Break]:
    for each in seen.breaks:
        places = [(f.filename, f.lineno) for f in each.user_stack if is_users(f.filename)]
        yield _break(*(places[-1] if places else ("", 0)), each.reason)
    for code, reason in seen.skipped:
        places = [(f, int(n)) for f, n in _PLACE.findall(reason) if is_users(f)]
        file, line = places[-1] if places else (code.co_filename, code.co_firstlineno)
        found = _break(file, line, reason)
        resumed = frames.RESUMED.fullmatch(code.co_name)
        what = f"the rest of {resumed[1]}" if resumed else f"all of {code.co_name}"
        because = f"{found.because}, and so Python runs {what}"
        yield Break(found.line, found.source, because)


def _break(file: str, line: int, reason: str) -> Break:
    return Break(line, linecache.getline(file, line).strip(), in_words(reason))


def in_words(reason: str) -> str:
    """Dynamo's reason in one sentence."""
    for known, because in _BECAUSE:
        if known in reason.partition("\n")[0]:
            return because
    explained = _EXPLAINED.search(reason)
    return explained[1] if explained else reason.strip().partition("\n")[0]
