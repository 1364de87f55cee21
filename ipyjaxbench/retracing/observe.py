"""Runs code, and says of each call of a compiled function in it what became of that."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from traceback import walk_tb
from types import CodeType

from ipyjaxbench.frameworks import (
    Compilation,
    earlier_failures_apart,
    find_eager_functions,
    forget_failures,
    loaded,
    wait_at_end,
)
from ipyjaxbench.retracing.call_recorder import CallRecorder
from ipyjaxbench.retracing.code_compilers import may_compile_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.protocol import Retracing, call_watches
from ipyjaxbench.retracing.second_run import SecondRun
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import COSTLY, Traces, too_many_traces
from ipyjaxbench.usercode import (
    CopyingHook,
    Namespace,
    OutputRecorder,
    Source,
    describe_error,
    imports_more,
    instrument_cell,
    instrument_functions,
    is_users_function,
    names_in,
    remove_hooks,
    run,
    strip_our_frames,
)


def observe_code(
    source: Source,
    names: Namespace,
    options: TraceOptions,
    *,
    twice: bool = False,
    to_end: bool = False,
) -> tuple[Traces, BaseException | None]:
    """Run code, and return what was seen of its calls and what it raised.

    With `twice` it runs a second time, to see what the first run left; arrays that the first run
    gave away are copied for that. With `to_end` too many traces are an error at the end only: other
    processes may wait for what the code does last.
    """
    __tracebackhide__ = True
    raised: BaseException | None = None
    second = SecondRun.from_source(source, names) if twice else None
    printed = OutputRecorder()
    with ExitStack() as stack:
        recorder = CallRecorder((), printed, None if to_end else options.most)
        recorder.file = source.filename
        stack.callback(recorder.close)
        stack.enter_context(earlier_failures_apart(loaded()[0]))
        stack.enter_context(printed)
        recorder.on_import = partial(_watch_new, recorder, stack)
        recorder.on_import()
        code = stack.enter_context(_instrumented(source, names, recorder))
        try:
            run(code, names)
            if second is not None:
                with second.prepared() as is_possible:
                    if is_possible:
                        run(code, names)
        except BaseException as error:  # noqa: BLE001  what was seen until then is shown
            raised = error.with_traceback(strip_our_frames(error.__traceback__))
            if isinstance(error, Exception):
                forget_failures(loaded()[0])
        calls = recorder.calls(raised=raised is not None)
        # What the error ended was not traced to its end, whatever a framework says of its begin.
        frames = walk_tb(None if raised is None else raised.__traceback__)
        stopped = {frame.f_code.co_name for frame, _ in frames}
        used = {call.framework for call in calls}
        traces = Traces(
            code=source.text.strip(),
            frameworks={f.name: f.version() for f in loaded()[0] if f.name in used},
            calls=calls,
            internal=recorder.outside(),
            show_internal=options.internal,
            also_traced=tuple(each for each in recorder.also_traced() if each not in stopped),
            seen=recorder.other_calls,
            error="" if raised is None else describe_error(raised),
        )
    most = options.most
    if raised is None and most is not None and traces.compilations > most:
        costly = [call for call in traces.calls if call.state in COSTLY]
        raised = too_many_traces(costly, most)
        traces = replace(traces, error=describe_error(raised))
    return traces, raised


def _watch_new(recorder: CallRecorder, stack: ExitStack) -> None:
    """Watch the calls of frameworks that were imported since; the code itself may import some."""
    known = {framework.name for framework, _ in recorder.watches}
    keep_learning()
    for framework, watch in call_watches(each for each in loaded()[0] if each.name not in known):
        recorder.add_watch(framework, watch)
        stack.enter_context(watch)


@contextmanager
def _instrumented(source: Source, names: Namespace, recorder: CallRecorder) -> Iterator[CodeType]:
    """Give the code with its calls looked at; those in the user's functions too, meanwhile."""
    at_end = wait_at_end(source, names)
    watches = recorder.watches
    if imports_more(source.tree) or may_compile_code(source.compiled(), names, watches):
        hook = CopyingHook(recorder, source, is_users_function)
        yield instrument_cell(source, hook, aside=True, at_end=at_end)
        return
    code = instrument_cell(source, recorder, at_end=at_end)
    readers = [w.takes for framework, w in watches if framework.capability(Compilation).reads_code]
    values = [names[name] for name in names_in(code) if name in names]
    functions = find_eager_functions(values, loaded()[0], readers)
    try:
        with instrument_functions(functions, recorder):
            yield code
    finally:
        remove_hooks([code])


_listening: dict[str, bool] = {}


def keep_learning() -> None:
    """Have each framework that was imported report its traces from now on."""
    for framework in loaded()[0]:
        if not _listening.get(framework.name):  # what it needs may have been imported since
            on_miss = partial(TRACE_LOG.record, framework.name)
            _listening[framework.name] = framework.capability(Retracing).listen(on_miss)


def learns(framework: str) -> bool:
    """Whether a framework reports what it traces when nobody looks at the calls."""
    return _listening.get(framework, False)
