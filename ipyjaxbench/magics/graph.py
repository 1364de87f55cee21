"""``%jaxpr``, ``%fxgraph``, ``%tfgraph`` and ``%explain``."""

from __future__ import annotations

import dataclasses
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from ipyjaxbench.commands import EXPLAIN, FXGRAPH, GRAPH, TFGRAPH, Command
from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.magics._display import show
from ipyjaxbench.magics._errors import diagnosis_shown, one_line_errors
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.magics._verb import Verb, hand_over, is_shown
from ipyjaxbench.options import GraphOptions
from ipyjaxbench.snippet import Namespace

if TYPE_CHECKING:
    from ipyjaxbench.diagnosis import Diagnosis
    from ipyjaxbench.graphs import Graph


@magics_class
class Programs(Verb):
    """Shows the programs of calls, and why there is none."""

    commands = (GRAPH, FXGRAPH, TFGRAPH, EXPLAIN)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def jaxpr(self, line: str, cell: str | None = None, local_ns: Namespace | None = None) -> Any:
        __tracebackhide__ = True
        return Typed.of(self.shell, line, cell, local_ns).done(GRAPH, partial(self._graph, GRAPH))

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def fxgraph(self, line: str, cell: str | None = None, local_ns: Namespace | None = None) -> Any:
        __tracebackhide__ = True
        work = partial(self._graph, FXGRAPH, framework="torch")
        return Typed.of(self.shell, line, cell, local_ns).done(FXGRAPH, work)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def tfgraph(self, line: str, cell: str | None = None, local_ns: Namespace | None = None) -> Any:
        __tracebackhide__ = True
        work = partial(self._graph, TFGRAPH, framework="tensorflow")
        return Typed.of(self.shell, line, cell, local_ns).done(TFGRAPH, work)

    @line_magic
    def explain(self, line: str) -> Diagnosis | None:
        __tracebackhide__ = True
        typed = Typed.of(self.shell, line, None, None)
        with one_line_errors():
            chosen, rest = self.split(EXPLAIN, line)
            if rest:
                raise OptionError(f"{rest!r}: %explain takes nothing: it looks at the last error")
            from ipyjaxbench.inspecting import explain

            error = getattr(sys, "last_value", None)
            if error is None:
                raise SnippetError("no cell has failed yet")
            why = explain(error)
        return hand_over(typed, chosen, why, self.screen(typed, chosen))  # type: ignore[no-any-return]

    def _graph(
        self, command: Command[GraphOptions], typed: Typed, framework: str | None = None
    ) -> Graph | None:
        """The program of a line or a cell, shown and returned as the options say."""
        __tracebackhide__ = True
        from ipyjaxbench import mermaid
        from ipyjaxbench.graphs import difference
        from ipyjaxbench.inspecting import inspect_code

        with one_line_errors():
            chosen, rest = self.split(command, typed.line)
            source = typed.source(typed.body(rest))
            screen = self.screen(typed, chosen)
            with (
                screen,
                diagnosis_shown(screen, whole=chosen.tb),
                screen.progress("looking at the program"),
            ):
                result = inspect_code(source, typed.names, chosen, framework)
                before = self._before(typed, chosen, result)
            self.session.looked_at[_looked_at(result.code, chosen)] = result
            if before is not None:
                result = difference(before, result)
        returned: Graph | None = hand_over(typed, chosen, result, screen)
        if chosen.mermaid and result.live is not None and is_shown(typed, chosen):
            drawn = mermaid.drawing(result.live.nodes())
            show({mermaid.MIME: drawn, "text/plain": drawn}, raw=True)
        return returned

    def _before(self, typed: Typed, chosen: GraphOptions, now: Graph) -> Graph | None:
        """The program that another one is held against; None where that was not asked for."""
        __tracebackhide__ = True
        from ipyjaxbench.inspecting import inspect_code

        if chosen.diff is None:
            return None
        if chosen.diff != "last":
            alike = dataclasses.replace(chosen, diff=None, on=(), shard=(), check=False)
            return inspect_code(typed.source(chosen.diff), typed.names, alike, now.framework)
        known = self.session.looked_at.get(_looked_at(now.code, chosen))
        if known is None:
            raise OptionError(f"--diff last: {now.code!r} was not looked at before in this form")
        return known


def _looked_at(code: str, chosen: GraphOptions) -> tuple[str, str]:
    """What was looked at, and the options that make another program of it."""
    form = (chosen.stage, chosen.platform, chosen.grad, chosen.vmap, chosen.numpy, chosen.shapes)
    return code, repr(form)
