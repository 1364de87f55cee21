"""Runs code, and says of each call of a compiled function in it what became of that."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from types import CodeType

from ipyjaxbench.frameworks import Compilation, Program, find_eager_functions, loaded
from ipyjaxbench.graphs import GraphTracer
from ipyjaxbench.retracing.call_recorder import Observer
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.protocol import Retracing
from ipyjaxbench.retracing.second_run import Repetition
from ipyjaxbench.retracing.trace_log import TRACE_LOG, TraceLog
from ipyjaxbench.retracing.traces import COSTLY, Traces, too_many_traces, traced_calls
from ipyjaxbench.usercode import (
    CopyingHook,
    Namespace,
    OutputRecorder,
    Source,
    describe_error,
    instrument_cell,
    instrument_functions,
    is_users_function,
    remove_hooks,
    run,
)


class Observed:
    """Watches calls while the context is open.

    Args:
        options: what is allowed, and what is to be told.
        log: what was seen before.
    """

    def __init__(self, options: TraceOptions, log: TraceLog = TRACE_LOG) -> None:
        self._options, self._log = options, log
        self._stack = ExitStack()
        self._frameworks = loaded()[0]
        found = ((each, each.capability(Retracing).call_watch()) for each in self._frameworks)
        self._watches = {each.name: watch for each, watch in found if watch is not None}
        explain = {each.name: each.capability(GraphTracer).explain for each in self._frameworks}
        self._printed = OutputRecorder()
        self.observer = Observer(self._watches, log, self._printed, explain, options.most)

    def __enter__(self) -> "Observed":
        keep_learning(self._log)
        self._learned = self._log.event_count
        self._stack.enter_context(self._printed)
        for watch in self._watches.values():
            self._stack.enter_context(watch)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def compiled(self, source: Source, names: Namespace) -> CodeType:
        """The code of a cell, whose calls are looked at; those in the user's functions too."""
        if any(watch.compiles_code for watch in self._watches.values()):
            copies = CopyingHook(self.observer, source, is_users_function)
            return instrument_cell(source, copies, aside=True)
        code = instrument_cell(source, self.observer)
        self._stack.callback(remove_hooks, [code])
        self._hook_into(names[name] for name in code.co_names if name in names)
        return code

    def _hook_into(self, values: Iterable[object]) -> None:
        """Look into the functions that some values lead to, until the context ends."""
        readers = [
            self._watches[each.name].takes
            for each in self._frameworks
            if each.name in self._watches and each.capability(Compilation).reads_code
        ]
        functions = find_eager_functions(values, self._frameworks, readers)
        self._stack.enter_context(instrument_functions(functions, self.observer))

    def traces(self, code: str, error: BaseException | None) -> Traces:
        """Return what was seen so far."""
        unseen = traced_calls(self._log.events_since(self._learned))
        calls = (*self.observer.calls(), *unseen)
        names = {call.framework for call in calls}
        return Traces(
            code=code,
            frameworks={f.name: f.version() for f in self._frameworks if f.name in names},
            calls=calls,
            internal=_others(self.observer.outside(), [call.name for call in unseen]),
            show_internal=self._options.internal,
            seen=self.observer.seen,
            error="" if error is None else describe_error(error),
        )


def _others(programs: Sequence[Program], told: list[str]) -> tuple[Program, ...]:
    """Return the programs that are not told as calls already."""
    left, others = list(told), []
    for program in programs:
        if program.name in left:
            left.remove(program.name)
        else:
            others.append(program)
    return tuple(others)


def observe_code(
    source: Source, names: Namespace, options: TraceOptions, *, twice: bool = False
) -> tuple[Traces, BaseException | None]:
    """Run code, and look at its calls.

    Args:
        source: the code.
        names: its namespace; names that it binds are there afterwards.
        options: what is allowed, and what is to be told.
        twice: run it a second time, to see what the first one left; arrays that the first one
            gave away are copied for that.

    Returns:
        What was seen, and what the code raised; None where it ran to its end.
    """
    __tracebackhide__ = True
    raised: BaseException | None = None
    repetition = Repetition.of(source, names) if twice else None
    with Observed(options) as observed:
        code = observed.compiled(source, names)
        try:
            run(code, names)
            if repetition is not None:
                with repetition.prepared() as is_possible:
                    if is_possible:
                        run(code, names)
        except BaseException as error:  # noqa: BLE001  what was seen until then is told
            raised = error
        found = observed.traces(source.text.strip(), raised)
    most = options.most
    if raised is None and most is not None and found.compilations > most:
        costly = [call for call in found.calls if call.state in COSTLY]
        raised = too_many_traces(costly[most:], most)
        found = replace(found, error=describe_error(raised))
    return found, raised


_learning: dict[str, bool] = {}


def keep_learning(log: TraceLog = TRACE_LOG) -> None:
    """Have each framework that was imported tell its traces from now on."""
    for framework in loaded()[0]:
        if not _learning.get(framework.name):  # what it needs may have been imported since
            learn = partial(log.record, framework.name)
            _learning[framework.name] = framework.capability(Retracing).listen(learn)


def learns(framework: str) -> bool:
    """Whether a framework tells what it traces when nobody looks at the calls."""
    return _learning.get(framework, False)
