"""``%jaxpr``, ``%fxgraph``, ``%tfgraph`` and ``%explain``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.jupyter.display import show
from ipyjaxbench.jupyter.errors import diagnosis_shown, one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.present import hand_over, is_shown, screen_for

if TYPE_CHECKING:
    from ipyjaxbench.command import NoOptions
    from ipyjaxbench.graphs.diagnosis import Diagnosis
    from ipyjaxbench.graphs.graph import Graph
    from ipyjaxbench.graphs.options import GraphOptions


def jaxpr(typed: Typed[GraphOptions]) -> Graph | None:
    """Show the program of a line or a cell."""
    __tracebackhide__ = True
    return _graph(typed)


def fxgraph(typed: Typed[GraphOptions]) -> Graph | None:
    """Show it as PyTorch's."""
    __tracebackhide__ = True
    return _graph(typed, "torch")


def tfgraph(typed: Typed[GraphOptions]) -> Graph | None:
    """Show it as TensorFlow's."""
    __tracebackhide__ = True
    return _graph(typed, "tensorflow")


def explain(typed: Typed[NoOptions]) -> Diagnosis | None:
    """Say why the last cell that failed would not trace."""
    __tracebackhide__ = True
    from ipyjaxbench.graphs import inspect_code as inspecting

    with one_line_errors():
        _, shown, rest = typed.split()
        if rest:
            raise OptionError(f"{rest!r}: %explain takes nothing: it looks at the last error")
        error = typed.session.last_error.value()
        if error is None:
            raise SnippetError("no cell has failed yet")
        why = inspecting.explain(error)
    return hand_over(typed, shown, why, screen_for(typed, shown))  # type: ignore[no-any-return]


def _graph(typed: Typed[GraphOptions], framework: str | None = None) -> Graph | None:
    """The program, shown and returned as the options say."""
    __tracebackhide__ = True
    from ipyjaxbench.graphs import mermaid
    from ipyjaxbench.graphs.graph import difference
    from ipyjaxbench.graphs.inspect_code import inspect_code

    with one_line_errors():
        chosen, shown, rest = typed.split()
        source = typed.source(typed.body(rest))
        screen = screen_for(typed, shown)
        with (
            screen,
            diagnosis_shown(screen, whole=chosen.tb),
            screen.progress("looking at the program"),
        ):
            result = inspect_code(source, typed.names, chosen, framework)
            before = _before(typed, chosen, result)
        typed.session.looked_at[_looked_at(result.code, chosen)] = result
        if before is not None:
            result = difference(before, result)
    returned: Graph | None = hand_over(typed, shown, result, screen)
    if chosen.mermaid and result.live is not None and is_shown(typed, shown):
        drawn = mermaid.drawing(result.live.nodes())
        show({mermaid.MIME: drawn, "text/plain": drawn}, raw=True)
    return returned


def _before(typed: Typed[GraphOptions], chosen: GraphOptions, now: Graph) -> Graph | None:
    """The program that another one is held against; None where that was not asked for."""
    __tracebackhide__ = True
    from ipyjaxbench.graphs.inspect_code import inspect_code

    if chosen.diff is None:
        return None
    if chosen.diff != "last":
        alike = dataclasses.replace(chosen, diff=None, on=(), shard=(), check=False)
        return inspect_code(typed.source(chosen.diff), typed.names, alike, now.framework)
    known = typed.session.looked_at.get(_looked_at(now.code, chosen))
    if known is None:
        raise OptionError(f"--diff last: {now.code!r} was not looked at before in this form")
    return known


def _looked_at(code: str, chosen: GraphOptions) -> tuple[str, str]:
    """What was looked at, and the options that make another program of it."""
    form = (chosen.stage, chosen.platform, chosen.grad, chosen.vmap, chosen.numpy, chosen.shapes)
    return code, repr(form)
