"""User code, compiled once by AST into a loop that can be timed; never as text.

The statements run inside a function whose names are the caller's globals, so that a loop costs
what `timeit`'s does and every name means what it means in a cell.
"""

import ast
import dataclasses
import itertools
import linecache
import operator
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from types import CodeType, FunctionType
from typing import Any, TypeVar

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.awaiting import finish, run
from ipyjaxbench.usercode.code_objects import names_read_and_bound
from ipyjaxbench.usercode.nested_magics import statements_in_magics
from ipyjaxbench.usercode.patience import await_patiently
from ipyjaxbench.usercode.syntax import awaits

T = TypeVar("T")
Namespace = dict[str, Any]
#: times, clock, wait, kept values -> nanoseconds for all of them.
Loop = Callable[[Iterator[None], Callable[[], int], Callable[[Any], object], Any], int]

# It begins on line 1, as a cell does: coloured tracebacks count from where the code begins.
_TEMPLATE = """\
def __fw_loop(__fw_times, __fw_clock, __fw_wait, __fw_kept):
    __fw_start = __fw_clock()
    for __fw_time in __fw_times:
        pass
    return __fw_clock() - __fw_start
"""
#: From which on a loop's own lines are numbered, where they are to be told from the user's.
OUR_LINES = 1_000_000
#: Code that uses these sees the difference between a function's names and a cell's; magics read and
#: bind the names of the frame that calls them.
_LOOKS_AT_NAMES = {
    *("locals", "exec", "eval", "vars", "dir"),
    *("get_ipython", "run_line_magic", "run_cell_magic", "_getframe", "currentframe"),
}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Source:
    """Code as a tree that knows where the user can see it."""

    tree: ast.Module  # the statements; line numbers are those that a traceback is to show
    text: str  # what the user typed, for headlines
    filename: str  # the name under which `linecache` finds the lines
    flags: int = 0  # compiler flags, such as those of ``from __future__`` imports in earlier cells

    @classmethod
    def plain(cls, text: str) -> "Source":
        """Return Python code outside of a notebook; its lines are made known to tracebacks."""
        filename = f"<fwtime {next(_numbers)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        return cls(ast.parse(text, filename), text, filename)

    def compiled(self, tree: ast.Module | ast.Expression | None = None) -> CodeType:
        """Compile the statements, or another tree in their place; the code may await."""
        tree = tree or self.tree
        mode = "eval"
        if isinstance(tree, ast.Module):
            tree, mode = _drop_docstring(tree), "exec"
        flags = self.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code: CodeType = compile(tree, self.filename, mode, flags, dont_inherit=True)
        return code


class Snippet:
    """Statements that can be run many times in one namespace.

    Args:
        source: what to run.
        names: the namespace that it reads and binds names in.

    Attributes:
        text: what the user typed.
        names: the namespace.
        reads: names that it reads, in order of first appearance.
        binds: names that it binds or deletes.
        carried: names that it reads before it binds them, as in ``x = f(x)``.
        has_value: whether the last statement is an expression whose value can be handed on.
        looks_at_names: whether it sees all names of the namespace, and may bind any of them.
        in_magics: statements behind magics in the code.
        codes: what the statements compile to, and those behind magics.
        awaits: whether the statements await, so that `awaiting` has to run what calls them.
        patience: seconds that a call which awaits may take in a loop; None for any number.
        frames: on the stack for each run of a loop: that of the loop, and one of its own for
            statements that cannot stand in a function.

    Raises:
        SnippetError: there is nothing to run, or only a string.
        SyntaxError: the code is not valid; it points at the user's own line.

    Example:
        >>> snippet = Snippet(Source.plain("y = x + 1"), {"x": 1})
        >>> snippet.reads, snippet.binds
        (('x',), ('y',))
    """

    def __init__(self, source: Source, names: Namespace) -> None:
        _refuse_what_cannot_run(source)
        self.text = source.text.strip()
        self.names = names
        self._source = source
        self.awaits = awaits(source.tree.body)
        self.patience: float | None = None
        self._code = source.compiled()
        self.in_magics = statements_in_magics(source.tree.body)
        behind = source.compiled(ast.Module(self.in_magics, []))
        self.codes = self._code, behind
        self.reads, self.binds, self.carried = names_read_and_bound(*self.codes)
        self.looks_at_names = not _LOOKS_AT_NAMES.isdisjoint(self._code.co_names)
        self._inlines = self._can_be_inlined()
        self.frames = 1 if self._inlines else 2
        self.has_value = self._inlines and isinstance(source.tree.body[-1], ast.Expr)

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements, for those who look for what the code does."""
        return self._source.tree.body

    def as_expression(self, node: ast.expr) -> Source:
        """Return a part of the code as code of its own, with the same lines and flags."""
        tree = ast.Module([ast.copy_location(ast.Expr(node), node)], [])
        return dataclasses.replace(self._source, tree=tree)

    def run(self) -> None:
        """Run the statements once."""
        __tracebackhide__ = True
        run(self._code, self.names)

    def loop(
        self,
        *,
        value: bool = False,
        waits: Sequence[str] | None = None,
        resets: Sequence[str] = (),
        apart: bool = False,
    ) -> Loop:
        """Compile a function that runs the statements again and again and returns nanoseconds.

        Args:
            value: hand the last expression's value to ``wait`` in each iteration.
            waits: names whose values are handed to ``wait`` too, after the value; None (and no
                value) leaves the call of ``wait`` out.
            resets: names set back before each iteration, to the kept values or the one kept value.
            apart: number the loop's own lines from `OUR_LINES` on, for who follows lines.

        Returns:
            ``loop(times, clock, wait, kept)``. What is handed over comes as a tuple, unless it
            is one thing.
        """
        if not self._inlines:
            return self._executed(waits, resets)
        made: dict[str, FunctionType] = {}
        tree = self._function(value=value, waits=waits, resets=resets, apart=apart)
        exec(self._source.compiled(tree), self.names, made)  # noqa: S102
        loop = made["__fw_loop"]
        # Tracebacks show the user's line as any other line of a cell, not as one of our function.
        loop.__code__ = loop.__code__.replace(co_name="<module>", co_qualname="<module>")
        return self._await_loop(loop) if self.awaits else loop

    def _can_be_inlined(self) -> bool:
        """Whether the statements mean inside of a function what they mean in a cell."""
        if self.looks_at_names:
            return False
        try:
            self._source.compiled(self._function(value=False, waits=None, resets=()))
        except SyntaxError:  # `from x import *`, `global x`, `x: int = 1`
            return False
        return True

    def _function(
        self,
        *,
        value: bool,
        waits: Sequence[str] | None,
        resets: Sequence[str],
        apart: bool = False,
    ) -> ast.Module:
        body = list(self.statements)
        handed: list[ast.expr] = []
        if value:
            last = body.pop()
            assert isinstance(last, ast.Expr)
            handed.append(last.value)
        handed += [ast.Name(name, ast.Load()) for name in waits or ()]
        if value or waits is not None:
            argument = handed[0] if len(handed) == 1 else ast.Tuple(handed, ast.Load())
            call = ast.Call(ast.Name("__fw_wait", ast.Load()), [argument], [])
            # An error that shows only while waiting belongs to the user's last line.
            body.append(ast.copy_location(ast.Expr(call), self.statements[-1]))
        if resets:
            targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in resets]
            target = ast.Tuple(targets, ast.Store()) if len(targets) > 1 else targets[0]
            body.insert(0, ast.Assign([target], ast.Name("__fw_kept", ast.Load())))
        tree = ast.parse(f"async {_TEMPLATE}" if self.awaits else _TEMPLATE)
        if apart:
            ast.increment_lineno(tree, OUR_LINES)
        function = tree.body[0]
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if self.binds:
            function.body.insert(0, ast.Global(list(self.binds)))
        loop = next(node for node in function.body if isinstance(node, ast.For))
        loop.body = body or [ast.Pass()]
        return ast.fix_missing_locations(tree)

    def _await_loop(self, loop: Callable[..., Coroutine[Any, Any, int]]) -> Loop:
        """Return a loop that awaits as one that does not: it is awaited as a whole."""

        def plain(times: Iterator[None], *args: Any) -> int:
            __tracebackhide__ = True
            return self._finish(loop(times, *args), partial(operator.length_hint, times))

        return plain

    def _run_awaited(self, code: CodeType, names: Namespace) -> object:
        __tracebackhide__ = True
        return self._finish(eval(code, names), int)

    def _finish(self, coroutine: Coroutine[Any, Any, T], count_left: Callable[[], int]) -> T:
        __tracebackhide__ = True
        if self.patience is not None:
            coroutine = await_patiently(coroutine, self.patience, count_left)
        return finish(coroutine)

    def _executed(self, waits: Sequence[str] | None, resets: Sequence[str]) -> Loop:
        """Return the same loop around `exec`: slower by 0.3 µs a time, and right for any code."""
        names, code = self.names, self._code
        execute: Callable[[CodeType, Namespace], object] = (
            self._run_awaited if self.awaits else exec
        )

        def loop(
            times: Iterator[None],
            clock: Callable[[], int],
            wait: Callable[[Any], object],
            kept: Any,
        ) -> int:
            __tracebackhide__ = True
            start = clock()
            for _ in times:
                names.update(zip(resets, kept if len(resets) > 1 else (kept,), strict=False))
                execute(code, names)
                if waits is not None:
                    values = tuple(names[name] for name in waits)
                    wait(values[0] if len(values) == 1 else values)
            return clock() - start

        return loop


def _drop_docstring(tree: ast.Module) -> ast.Module:
    """Return the statements, where a string in front does not become ``__doc__``."""
    first = tree.body[0] if tree.body else None
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return tree
    return ast.Module([ast.copy_location(ast.Pass(), first), *tree.body], tree.type_ignores)


def _refuse_what_cannot_run(source: Source) -> None:
    body = source.tree.body
    if not body:
        raise SnippetError("there is no code to time; give a statement such as f(x)")
    only = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if isinstance(only, ast.Constant) and isinstance(only.value, str):
        shown = shorten(source.text, 40, placeholder=" …")
        inside = shorten(only.value, 40, placeholder=" …")
        raise SnippetError(
            f"{shown} is a string, so nothing would be timed. Type it without quotes: {inside}"
        )
