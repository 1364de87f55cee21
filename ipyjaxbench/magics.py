"""The magics: parse, call, show."""

import ast
import dataclasses
import json
import linecache
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)
from IPython.display import display

from ipyjaxbench import arms, command_line, mermaid, notes
from ipyjaxbench.clock import Clock
from ipyjaxbench.comparison import Comparison, Side
from ipyjaxbench.contender import Entry
from ipyjaxbench.diagnosis import UntraceableError
from ipyjaxbench.errors import IpyJaxBenchError, OptionError, SnippetError
from ipyjaxbench.graph import Graph, difference
from ipyjaxbench.inspecting import explain, inspect_code
from ipyjaxbench.ledger import LEDGER
from ipyjaxbench.located import Whereabouts
from ipyjaxbench.locating import evaluated, locate, survey
from ipyjaxbench.measurement import Measurement
from ipyjaxbench.observing import observe_code, predict_code
from ipyjaxbench.options import CompareOptions, GraphOptions
from ipyjaxbench.progress import Progress
from ipyjaxbench.screen import MutedShell, Screen
from ipyjaxbench.signatures import Signatures
from ipyjaxbench.snippet import Namespace, Snippet, restored
from ipyjaxbench.sweep import sweep_snippets, values_of
from ipyjaxbench.swept import Sweep
from ipyjaxbench.timer import time_snippet
from ipyjaxbench.traces import Traces
from ipyjaxbench.transferred import Transfers
from ipyjaxbench.transferring import transfer_code
from ipyjaxbench.turns import compare_snippets
from ipyjaxbench.typed import (
    calling_frame,
    filename_of,
    namespace_of,
    snippets_of,
    source_of,
    use_of_result,
)
from ipyjaxbench.watcher import Watcher


@magics_class
class IpyJaxBench(Magics):
    """The magics of ipyjaxbench."""

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._kept: dict[str, Measurement] = {}
        self._last: dict[tuple[str, str], Graph] = {}  # by what was looked at, and the form
        self._watcher = Watcher(shell)

    def leave(self) -> None:
        """Listen to the shell's cells no longer."""
        self._watcher.leave()

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def fwtime(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Measurement | None:
        """Time code right: asynchronous work is waited for, compilation is kept apart."""
        __tracebackhide__ = True
        names = namespace_of(self.shell, local_ns)
        with _one_line_errors():
            chosen, code = command_line.split(line)
            start = Clock.elapsed().now()
            snippet, setup = snippets_of(self.shell, code, cell, names)
            compile_time = (Clock.elapsed().now() - start) * 1e-9
        use = use_of_result()
        returned = chosen.returned or use == "used"
        shown = not chosen.quiet and not (returned and use == "shown")
        with Screen(self.shell, active=shown) as screen:
            result = time_snippet(
                snippet,
                chosen,
                setup=setup,
                muted=MutedShell(self.shell),
                compile_time=compile_time,
                told=Progress(screen.show, Clock.elapsed()),
            )
        if names is not self.shell.user_ns and local_ns is not None:
            result = _kept_in_function(result, snippet, names, local_ns)
        if chosen.variable:
            self.shell.user_ns[chosen.variable] = result
        if chosen.name:
            self._kept[chosen.name] = result
        if shown:
            screen.replace(result)
        return result if returned else None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def fwcompare(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Comparison | Sweep | None:
        """Compare labelled lines of code side by side, in turns and on the same data."""
        __tracebackhide__ = True
        use = use_of_result()
        with _one_line_errors():
            chosen, rest = command_line.split_compare(line)
            returned = chosen.returned or use == "used"
            shown = not chosen.quiet and not (returned and use == "shown")
            if cell is None:
                result: Comparison | Sweep = self._of_kept(rest, chosen)
            elif rest:
                raise SnippetError(f"{rest!r} stands where options stand: write code below")
        if cell is not None:
            names = namespace_of(self.shell, local_ns)
            result = self._in_turns(cell, chosen, names, shown=shown)
        elif shown:
            display(result)
        if chosen.variable:
            self.shell.user_ns[chosen.variable] = result
        return result if returned else None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def jaxpr(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Graph | None:
        """Show the program that a call is; none of your caches changes."""
        __tracebackhide__ = True
        return self._graph(line, cell, local_ns)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def fxgraph(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Graph | None:
        """Show the ATen operations that a call in PyTorch is, as %jaxpr does for any framework."""
        __tracebackhide__ = True
        return self._graph(line, cell, local_ns, "torch")

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def tfgraph(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Graph | None:
        """Show the graph that a call in TensorFlow is, as %jaxpr does for any framework."""
        __tracebackhide__ = True
        return self._graph(line, cell, local_ns, "tensorflow")

    def _graph(
        self,
        line: str,
        cell: str | None,
        local_ns: Namespace | None,
        framework: str | None = None,
    ) -> Graph | None:
        """The program of a line or a cell, shown and returned as the options say."""
        __tracebackhide__ = True
        use = use_of_result()
        names = namespace_of(self.shell, local_ns)
        with _one_line_errors():
            chosen, code = command_line.split_graph(line)
            if cell is not None and code:
                raise SnippetError(f"{code!r} stands where options stand: write code below")
            caller = calling_frame()
            above = caller.f_lineno - (cell is None) if caller is not None else 0
            source = source_of(self.shell, code if cell is None else cell, above, caller)
            with _diagnosis_shown(whole=chosen.tb):
                result = inspect_code(source, names, chosen, framework)
                before = self._before(chosen, result, names, above, caller)
            self._last[_looked_at(result.code, chosen)] = result
            if before is not None:
                result = difference(before, result)
        returned = chosen.returned or use == "used"
        if not chosen.quiet and not (returned and use == "shown"):
            display(result)
            if chosen.mermaid and result.live is not None:
                drawn = mermaid.drawing(result.live.nodes())
                display({mermaid.MIME: drawn, "text/plain": drawn}, raw=True)
        if chosen.variable:
            self.shell.user_ns[chosen.variable] = result
        return result if returned else None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def trace_cached(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Traces | Signatures | None:
        """Say of each call of a compiled function: traced or cached, why, and at what cost."""
        __tracebackhide__ = True
        use = use_of_result()
        names = namespace_of(self.shell, local_ns)
        raised: BaseException | None = None
        with _one_line_errors():
            chosen, code = command_line.split_trace(line)
            chosen.check(code, cell)
            if chosen.watch is not None:
                self._watcher.switch(on=chosen.watch == "on")
                return None
            result: Traces | Signatures
            if chosen.history:
                result = Signatures.of(LEDGER, code)
            else:
                caller = calling_frame()
                above = caller.f_lineno - (cell is None) if caller is not None else 0
                source = source_of(self.shell, code if cell is None else cell, above, caller)
                if chosen.predict:
                    result = predict_code(source, names)
                else:
                    twice = cell is None
                    result, raised = observe_code(source, names, chosen, twice=twice)
        returned = chosen.returned or use == "used"
        if not chosen.quiet and not (returned and use == "shown"):
            display(*_forms(result, as_json=chosen.json), raw=chosen.json)
        if chosen.variable:
            self.shell.user_ns[chosen.variable] = result
        if raised is not None:
            with _one_line_errors():
                raise raised
        return result if returned else None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def fwdevices(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Whereabouts | Transfers | None:
        """Show where arrays live, what devices there are, and above a cell what it copies."""
        __tracebackhide__ = True
        use = use_of_result()
        names = namespace_of(self.shell, local_ns)
        raised: BaseException | None = None
        result: Whereabouts | Transfers
        with _one_line_errors():
            chosen, code = command_line.split_place(line)
            if cell is not None:
                result, raised = self._transfers(code, cell, names)
            elif code:
                values = evaluated(names, code)
                result = locate(values, start=chosen.start)
            else:
                hidden = self.shell.user_ns_hidden
                mine = {name: value for name, value in names.items() if name not in hidden}
                result = survey(mine, start=chosen.start)
        returned = chosen.returned or use == "used"
        if not chosen.quiet and not (returned and use == "shown"):
            display(result)
        if chosen.variable:
            self.shell.user_ns[chosen.variable] = result
        if raised is not None:
            with _one_line_errors():
                raise raised
        return result if returned else None

    def _transfers(
        self, options: str, cell: str, names: Namespace
    ) -> tuple[Transfers, BaseException | None]:
        """Run a cell, and see what it copies."""
        __tracebackhide__ = True
        if options:
            raise SnippetError(f"{options!r} stands where options stand: write code below")
        caller = calling_frame()
        above = caller.f_lineno if caller is not None else 0
        return transfer_code(source_of(self.shell, cell, above, caller), names)

    @line_magic
    def explain(self, line: str) -> None:
        """Say why the last cell that failed would not trace: the line, the argument, a fix."""
        __tracebackhide__ = True
        with _one_line_errors():
            if line.strip():
                raise OptionError(
                    f"{line.strip()!r}: %explain takes nothing: it looks at the last error"
                )
            error = getattr(sys, "last_value", None)
            if error is None:
                raise SnippetError("no cell has failed yet")
            display(explain(error))

    def _before(
        self,
        chosen: GraphOptions,
        now: Graph,
        names: Namespace,
        above: int,
        caller: FrameType | None,
    ) -> Graph | None:
        """The program that another one is held against; None where that was not asked for."""
        __tracebackhide__ = True
        if chosen.diff is None:
            return None
        if chosen.diff != "last":
            source = source_of(self.shell, chosen.diff, above, caller)
            alike = dataclasses.replace(chosen, diff=None, on=(), shard=(), check=False)
            return inspect_code(source, names, alike, now.framework)
        known = self._last.get(_looked_at(now.code, chosen))
        if known is None:
            raise OptionError(f"--diff last: {now.code!r} was not looked at before in this form")
        return known

    def _of_kept(self, text: str, chosen: CompareOptions) -> Comparison:
        """Measurements that ``%fwtime --name`` kept, one against the others."""
        if chosen.sweep or chosen.align or chosen.budget is not None:
            raise OptionError("--sweep, --align and -b go with a cell of arms, not with kept names")
        labels = shlex.split(text)
        for label in labels:
            if label not in self._kept:
                known = ", ".join(self._kept) or "none yet"
                raise OptionError(f"{label!r} was not kept by %fwtime --name; kept are: {known}")
        chosen.check(labels)
        sides = tuple(Side(label, self._kept[label]) for label in labels)
        return Comparison(sides, chosen.baseline or labels[0], interleaved=False)

    def _in_turns(
        self, cell: str, chosen: CompareOptions, names: Namespace, *, shown: bool
    ) -> Comparison | Sweep:
        """The arms of a cell, at each value of what is swept."""
        __tracebackhide__ = True
        with _one_line_errors():
            setup, entries = _entries(self.shell, cell, names)
            chosen.check([entry.label for entry in entries])
            swept = {n: values_of(n, text, names) for n, text in chosen.sweep}
        result: Comparison | Sweep
        with Screen(self.shell, active=shown) as screen, _one_line_errors(), restored(names):
            told = Progress(screen.show, Clock.elapsed())
            if swept:
                result = sweep_snippets(
                    setup, entries, swept, chosen, muted=lambda: MutedShell(self.shell), told=told
                )
            else:
                if setup is not None:
                    setup.run()
                muted = MutedShell(self.shell)
                result = compare_snippets(entries, chosen, muted=muted, told=told)
            if shown:
                screen.replace(result)
        return result


def _looked_at(code: str, chosen: GraphOptions) -> tuple[str, str]:
    """What was looked at, and the options that make another program of it."""
    form = (chosen.stage, chosen.platform, chosen.grad, chosen.vmap, chosen.numpy, chosen.shapes)
    return code, repr(form)


def _forms(result: Traces | Signatures, *, as_json: bool) -> tuple[object, ...]:
    """What is displayed: the report, or the record as JSON."""
    if not as_json:
        return (result,)
    record = result.to_dict()
    return ({"application/json": record, "text/plain": json.dumps(record, indent=1)},)


def _entries(
    shell: InteractiveShell, cell: str, names: Namespace
) -> tuple[Snippet | None, list[Entry]]:
    """What a comparison's cell holds: what runs before all, and the arms."""
    caller = calling_frame()
    above = caller.f_lineno if caller is not None else 0
    text = shell.transform_cell(arms.transformed(cell, shell.transform_cell))
    filename = filename_of(shell, "\n" * above + text, caller)

    def parse(code: str) -> ast.Module:
        tree: ast.Module = shell.transform_ast(ast.parse("\n" * above + code, filename))
        return tree

    read = arms.read(text, parse, filename, shell.compile.flags)
    entries = [
        Entry(
            arm.label,
            Snippet(arm.source, names),
            Snippet(arm.setup, names) if arm.setup else None,
        )
        for arm in read.arms
    ]
    return Snippet(read.setup, names) if read.setup else None, entries


def _kept_in_function(
    result: Measurement, snippet: Snippet, names: Namespace, local_ns: Namespace
) -> Measurement:
    """Bind the names in the calling function, where Python gives a way to, or say so."""
    local_ns.update({name: names[name] for name in snippet.binds if name in names})
    if sys.version_info >= (3, 13) or not snippet.binds:
        return result
    note = notes.names_stay_inside(list(snippet.binds))
    return dataclasses.replace(result, notes=(*result.notes, note))


# The help that `%fwtime?` shows is the option table's.
IpyJaxBench.fwtime.__doc__ = f"{IpyJaxBench.fwtime.__doc__}\n\n{command_line.usage()}"
IpyJaxBench.fxgraph.__doc__ = f"{IpyJaxBench.fxgraph.__doc__}\n\n{command_line.graph_usage()}"
IpyJaxBench.tfgraph.__doc__ = f"{IpyJaxBench.tfgraph.__doc__}\n\n{command_line.graph_usage()}"
IpyJaxBench.jaxpr.__doc__ = f"{IpyJaxBench.jaxpr.__doc__}\n\n{command_line.graph_usage()}"
IpyJaxBench.trace_cached.__doc__ = (
    f"{IpyJaxBench.trace_cached.__doc__}\n\n{command_line.trace_usage()}"
)
IpyJaxBench.fwdevices.__doc__ = f"{IpyJaxBench.fwdevices.__doc__}\n\n{command_line.place_usage()}"
IpyJaxBench.fwcompare.__doc__ = f"{IpyJaxBench.fwcompare.__doc__}\n\n{command_line.compare_usage()}"


@contextmanager
def _diagnosis_shown(*, whole: bool) -> Iterator[None]:
    """Where a call does not trace, why; the notebook still stops, with one line or all of them."""
    __tracebackhide__ = True
    try:
        yield
    except UntraceableError as failed:
        display(failed.diagnosis)
        if whole:
            raise failed.error from None
        stop = UsageError("it does not trace: see above (--tb shows the whole traceback)")
        stop.diagnosis = failed.diagnosis  # for %explain
        raise stop from None


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """IPython shows a UsageError as one line, and still stops the notebook."""
    __tracebackhide__ = True
    try:
        yield
    except IpyJaxBenchError as error:
        raise UsageError(str(error)) from None
    except SyntaxError as error:
        # The line as it was typed: that of the error may be one that stands for it.
        text = linecache.getline(error.filename or "", error.lineno or 0) or error.text or ""
        shown = text.strip()
        raise UsageError(f"SyntaxError in line {error.lineno}, {shown!r}: {error.msg}") from None
