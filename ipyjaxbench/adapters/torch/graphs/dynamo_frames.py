"""Has dynamo look at functions whose code stands in for the user's, so that nothing of it stays."""

import functools
import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import torch

from ipyjaxbench.adapters.torch.graphs.program import is_outside_torch, is_own_file
from ipyjaxbench.errors import SnippetError, by_caller
from ipyjaxbench.usercode import Call

#: What dynamo calls the rest of a function behind a break.
RESUMED = re.compile(r"torch_dynamo_resume_in_(.+?)_at_.*")
#: Names that dynamo leaves in the globals of functions that it compiles.
_LEFT = re.compile(r"__[a-z_A-Z]+_(\d|[a-z]).*|.*_c\d+")


class EnoughError(BaseException):
    """Dynamo has looked at the first function; nothing of it was run. No user's code takes it."""


@dataclass
class Analysis:
    """What dynamo made of a call.

    Attributes:
        graphs: what it would have compiled.
        breaks: why a graph ended, as dynamo keeps it.
        skipped: functions that it left to Python as a whole, with the reason.
        result: what the call gave.
        strangers: code that ran behind a break and was not looked at, by identity: equal code
            may be that of another function.
    """

    graphs: list[Any] = field(default_factory=list)
    breaks: list[Any] = field(default_factory=list)
    skipped: list[tuple[CodeType, str]] = field(default_factory=list)
    result: Any = None
    strangers: dict[int, CodeType] = field(default_factory=dict)


def analyse(call: Call, codes: Iterable[CodeType], *, stop: bool, whole: bool = False) -> Analysis:
    """Make a call with dynamo's analysis switched on; compile nothing beyond dynamo's own part.

    Args:
        call: it is made, or only begun.
        codes: of functions that may be analysed: dynamo keeps what it finds with them.
        stop: stop once the first function was analysed, before it is run.
        whole: analyse as with ``fullgraph=True``, for which dynamo takes more into a graph.

    Raises:
        SnippetError: dynamo is switched off.
    """
    from torch._dynamo import trace_rules, utils
    from torch._dynamo.eval_frame import set_eval_frame

    analysis, known = Analysis(), {id(code) for code in codes}

    def backend(module: Any, _: object) -> Any:
        analysis.graphs.append(module)
        return module.forward

    convert = getattr(torch._dynamo.optimize(backend, nopython=whole), "callback", None)
    if not callable(convert):
        asked = by_caller("--dynamo", "stage='dynamo'")
        raise SnippetError(
            f"{asked} needs torch.compile, which is disabled here"
            " (TORCH_COMPILE_DISABLE, TORCHDYNAMO_DISABLE or torch._dynamo.config.disable)"
        )
    at = len(utils.graph_break_reasons)

    @functools.wraps(convert)
    def callback(frame: Any, *rest: Any) -> Any:
        code = frame.f_code
        if id(code) not in known and not RESUMED.fullmatch(code.co_name):
            if not is_own_file(code.co_filename) and not trace_rules.check(code, frame=frame):
                analysis.strangers[id(code)] = code
            return _left_alone()
        unable = dict(utils.counters["unimplemented"])
        made = convert(frame, *rest)
        if made.guarded_code is None:
            why = [r for r, n in utils.counters["unimplemented"].items() if unable.get(r) != n]
            analysis.skipped += [(code, reason) for reason in why[:1]]
        if stop:
            raise EnoughError
        return made

    before = set_eval_frame(None)
    set_eval_frame(callback)
    try:
        analysis.result = call.function(*call.args, **call.kwargs)
    except EnoughError:
        pass
    finally:
        set_eval_frame(before)
        analysis.breaks = utils.graph_break_reasons[at:]
    return analysis


def is_analysed(function: object) -> bool:
    """Whether dynamo takes a function as it is, and needs none around it."""
    from torch._dynamo import trace_rules

    plain = getattr(function, "__func__", function)
    is_own = isinstance(plain, FunctionType) and is_outside_torch(plain.__code__.co_filename)
    return is_own and not trace_rules.check(plain)


def _left_alone() -> Any:
    """Have Python run this frame, and dynamo remember nothing of it."""
    from torch._dynamo.types import ConvertFrameReturn

    return ConvertFrameReturn(apply_to_code=False)


@contextmanager
def replace_code(functions: Sequence[FunctionType]) -> Iterator[list[CodeType]]:
    """Give functions code of their own, with which dynamo keeps what it finds.

    Yields:
        All of that code; that of functions defined inside of them is among it.
    """
    from torch._dynamo.eval_frame import reset_code

    before = [(function, function.__code__) for function in functions]
    spaces = {id(f.__globals__): (f.__globals__, set(f.__globals__)) for f in functions}
    ours: list[CodeType] = []
    try:
        for function in functions:
            function.__code__ = _copied(function.__code__)
            ours += _nested_code(function.__code__)
        yield ours
    finally:
        for function, code in before:
            function.__code__ = code
        for code in ours:
            reset_code(code)
        for names, known in spaces.values():
            _clean(names, set(names) - known)


def _clean(names: dict[str, Any], new: set[str]) -> None:
    """Remove what dynamo left, as it would when the code is gone; it must not try again then."""
    from torch._dynamo import utils

    cleanup = getattr(getattr(utils, "CleanupManager", None), "instance", None)
    for hooks in list(getattr(cleanup, "values", {}).values()):
        for hook in [h for h in hooks if h.scope is names and h.name in new]:
            hooks.remove(hook)
            hook()
    for name in new & set(names):
        if _LEFT.fullmatch(name):
            del names[name]


def functions_of(codes: Sequence[CodeType]) -> list[FunctionType]:
    """Return the functions in memory that have one of these codes."""
    wanted = {id(code) for code in codes}
    referrers = gc.get_referrers(*codes)
    return [f for f in referrers if isinstance(f, FunctionType) and id(f.__code__) in wanted]


def _copied(code: CodeType) -> CodeType:
    held = (_copied(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=tuple(held))


def _nested_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested_code(each)
