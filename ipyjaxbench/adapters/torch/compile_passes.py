"""What dynamo and Inductor spend time on while something is compiled, by their own marks.

All of them end in one method of a logger of dynamo's (private), which gets each mark's name, its
start and its end; it is wrapped on that object meanwhile. No setting of logging changes.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import CompilePasses, Interval, sum_passes

_ENDS = "log_event_end"
#: Marks around all that is compiled for a frame, and for a backward pass.
_OUTERMOST = ("entire_frame_compile", "_compile.compile_inner", "entire_backward_compile",
              "backward._backward_impl")  # fmt: skip
#: Mark -> what it is, in the words of PyTorch's documentation.
_WORDS = {
    "entire_frame_compile": "dynamo",
    "_compile.compile_inner": "dynamo",
    "compile_attempt_0": "dynamo",
    "bytecode_tracing": "dynamo: tracing bytecode",
    "build_guards": "dynamo: guards",
    "backend_compile": "backend",
    "OutputGraph.call_user_compiler": "backend",
    "create_aot_dispatcher_function": "AOT autograd",
    "aot_collect_metadata": "AOT autograd: metadata",
    "aot_trace_joint_graph": "AOT autograd: joint graph",
    "inductor_compile": "Inductor",
    "compile_fx_inner": "Inductor",
    "fx_codegen_and_compile": "Inductor",
    "_recursive_pre_grad_passes": "Inductor: pre-grad passes",
    "_recursive_joint_graph_passes": "Inductor: joint-graph passes",
    "_recursive_post_grad_passes": "Inductor: post-grad passes",
    "GraphLowering.run": "Inductor: lowering",
    "GraphLowering.codegen": "Inductor: codegen",
    "code_gen": "Inductor: codegen",
    "Scheduler.codegen": "Inductor: codegen of kernels",
    "compile_file": "C++ compiler",
    "async_compile.wait": "waiting for compiled kernels",
    "CachingAutotuner.benchmark_all_configs": "autotuning",
    "entire_backward_compile": "backward pass",
    "backward._backward_impl": "backward pass",
}
_CALENDAR = Clock.calendar()


def profile_compilation(run: Callable[[], object]) -> CompilePasses:
    """Make a call, and sum up the marks of the threads that compiled in it."""
    __tracebackhide__ = True
    spans: list[Interval] = []
    begin = _CALENDAR.now()
    with _marks(spans) as reason:
        if reason:
            return CompilePasses("torch", reason=reason)
        run()
    threads = {span.line for span in spans if span.operation in _OUTERMOST}
    own = [each for each in spans if each.line in threads]
    return sum_passes("torch", [_spell(each) for each in _in_outermost(own)], begin)


def _in_outermost(spans: Sequence[Interval]) -> Iterator[Interval]:
    """Yield what belongs to a compilation: a thread marks other things, too."""
    outer = [each for each in spans if each.operation in _OUTERMOST]
    for span in spans:
        if any(
            each.line == span.line and each.start <= span.start and span.end <= each.end
            for each in outer
        ):
            yield span


def _spell(span: Interval) -> Interval:
    name = span.operation.removeprefix("pass.")
    return span._replace(operation=_WORDS.get(span.operation, name))


@contextmanager
def _marks(spans: list[Interval]) -> Iterator[str]:
    """Add marks to a list while the context is open; yields why that is not possible, or ""."""
    try:
        from torch._dynamo.utils import get_chromium_event_logger

        logger: Any = get_chromium_event_logger()
        original = getattr(logger, _ENDS)
    except (ImportError, AttributeError):
        yield "this version of PyTorch does not mark its phases"
        return

    def log_event_end(name: str, time_ns: int, metadata: Any, start_time_ns: int,
                      *args: Any, **kwargs: Any) -> Any:  # fmt: skip
        with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
            thread = f"{threading.get_ident()}"
            spans.append(Interval(str(name), start_time_ns, time_ns, "", thread))
        return original(name, time_ns, metadata, start_time_ns, *args, **kwargs)

    setattr(logger, _ENDS, log_event_end)
    try:
        yield ""
    finally:
        if vars(logger).get(_ENDS) is log_event_end:
            delattr(logger, _ENDS)
