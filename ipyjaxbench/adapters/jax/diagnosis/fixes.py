"""What to write instead: each fix is traced, and computed under jit, before it is shown."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FunctionType

from ipyjaxbench.adapters.jax import origin
from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.jax.diagnosis.rules import branches, calls, loops, masks, sizes
from ipyjaxbench.adapters.jax.diagnosis.swap_function import replace_function
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.adapters.shared.diagnosis.source_edit import (
    Edit,
    Rule,
    Site,
    Sources,
    sites,
    statements,
)
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import Fix
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import Call

_MAX_EDITS = 3  # in one fix
_MAX_TRIES = 60
_MAX_SECONDS = 8.0
_CLOCK = Clock.elapsed()
#: Rules for one kind of code: the first that helps is shown.
_RULES = (
    (masks.where_in_reduction, masks.where_in_reduction_of_first),
    (masks.zeros_for_mask, masks.zeros_for_slice),
    (masks.slice_of_fixed_size,),
    (sizes.reshape_to_known_axes,),
    masks.FOR_ASSIGNED_ITEMS,
    (branches.WHERE_IN_EXPRESSIONS,),
    (branches.logical_functions,),
    (*branches.WHERE_FOR_IF, branches.cond_for_returns, branches.cond_for_assigned),
    (loops.fori_loop, loops.while_loop),
    (branches.jax_for_builtins,),
    (calls.debug_print,),
    (calls.jax_for_numpy,),
    (calls.numpy_for_jax,),
    (calls.array_for_number,),
    (calls.array_for_list, calls.switch_for_list),
    (masks.fixed_size,),
    (loops.python_loop,),
)


@dataclass(frozen=True)
class _Change:
    """A change that was made: what, where, and the function that came of it."""

    edit: Edit
    site: Site
    function: FunctionType

    def holds(self, other: "_Change") -> bool:
        """Whether a later change is one of what this one wrote."""
        *outer, (name, first) = self.site.trail
        depth = len(outer)
        if other.site.function.__code__ is not self.function.__code__:
            return False
        if other.site.trail[:depth] != tuple(outer) or len(other.site.trail) <= depth:
            return False
        body, index = other.site.trail[depth]
        return body == name and first <= index < first + len(self.edit.new)


@dataclass(frozen=True)
class _Attempt:
    """A call with changed functions, and what tracing it raises; None where it traces."""

    call: Call
    error: BaseException | None
    changes: tuple[_Change, ...] = ()


class Fixes:
    """Looks for what to write instead in a call that failed.

    What is mended is `error`: the code may have turned it into the one that it failed with.

    Args:
        call: what failed.
        static: arguments that it needs to be static.
        error: what is to be mended.
        rules: groups of them; of each, the first that helps is shown.
    """

    def __init__(
        self,
        call: Call,
        static: Sequence[str],
        error: BaseException,
        rules: Sequence[Sequence[Rule]] = _RULES,
    ) -> None:
        self._call, self._static, self._error, self._rules = call, static, error, rules
        self.eager = EagerCall(call)
        self._sources = Sources()
        self._tries = 0
        self._end = _CLOCK.now() + _MAX_SECONDS * 1e9

    def find(self) -> Iterator[Fix]:
        """Yield fixes with which the call traces, and gives what it gives without jit."""
        yield from self._mend(_Attempt(self._call, self._error))

    def _mend(self, attempt: _Attempt) -> Iterator[Fix]:
        """Yield what mends the innermost of the user's lines, or else one that led there."""
        assert attempt.error is not None
        for place in origin.places(attempt.error)[:_MAX_EDITS]:
            fixes = [*self._mend_place(attempt, place)]
            yield from fixes
            if fixes:
                return

    def _mend_place(self, attempt: _Attempt, place: origin.Place) -> Iterator[Fix]:
        function = call_graph.find_function(attempt.call, place.code)
        definition = self._sources.definition(function) if function else None
        if function is None or definition is None:
            return
        for site in sites(definition, place.line, function):
            for group in self._rules:
                fixes = (self._apply_rule(attempt, place, site, rule) for rule in group)
                yield from islice((fix for fix in fixes if fix is not None), 1)

    def _apply_rule(
        self, attempt: _Attempt, place: origin.Place, site: Site, rule: Rule
    ) -> Fix | None:
        """Return the first of a rule's edits that helps, alone or with others elsewhere."""
        for edit in rule(site):
            after = self._change_call(attempt, site, edit)
            fix = None
            if after is not None and after.error is None:
                fix = self._checked(after)
            elif after is not None and len(after.changes) < _MAX_EDITS:
                fix = next(self._mend(after), None) if _is_elsewhere(after, place) else None
            if fix is not None:
                return fix
        return None

    def _change_call(self, attempt: _Attempt, site: Site, edit: Edit) -> _Attempt | None:
        """Return the call with one more change; None where that cannot be tried."""
        if self._tries >= _MAX_TRIES or _CLOCK.now() > self._end:
            return None
        function = self._sources.build(site.edited(edit), site.function)
        if function is None:
            return None
        self._tries += 1
        try:
            call = replace_function(attempt.call, site.function, function)
        except CODE_ERRORS:  # an object of the user's may refuse to be copied
            return None
        changes = (*attempt.changes, _Change(edit, site, function))
        return _Attempt(call, tracing.error_of(call, self._static), changes)

    def _checked(self, attempt: _Attempt) -> Fix | None:
        """Return the fix where it gives under jit what the code gives without, or says the change.

        What it says that it changes, it changes without jit and under jit alike.
        """
        edits = [change.edit for change in attempt.changes]
        may_differ = not all(edit.same for edit in edits)
        eager = EagerCall(attempt.call) if may_differ else self.eager
        agrees = eager.agrees(attempt.call, self._static)
        if agrees is False:
            return None
        missing: dict[str, None] = {}
        outer = _outer(attempt.changes)
        code = "\n".join(self._code_lines(attempt.changes, outer, missing))
        costs = [edit.changes for edit in edits if edit.changes]
        if missing:
            costs.append(f"needs import {', '.join(missing)}")
        if self._static:
            static = self._static[0] if len(self._static) == 1 else self._static
            costs.append(f"with static_argnames={static!r}")
        same = self.eager.how if agrees and not may_differ else ""
        replaces = "\n".join(map(_replaced, outer))
        return Fix(code, "; ".join(dict.fromkeys(costs)), same=same, replaces=replaces)

    def _code_lines(
        self, changes: Sequence[_Change], outer: Sequence[_Change], missing: dict[str, None]
    ) -> Iterator[str]:
        """Yield what to write; a change to what another one wrote is shown within that."""
        for change in outer:
            last = [change, *(later for later in changes if change.holds(later))][-1]
            definition = self._sources.definition(last.function)
            new = statements(definition, change.site.trail) if definition else []
            spelling = Spelling(change.site.function)
            text = _head(change, ast.unparse(spelling.tree(new[: len(change.edit.new)])))
            if change.site.function.__name__ == "<lambda>" and len(change.edit.new) == 1:
                text = text.removeprefix("return ")  # an expression has none
            missing.update(spelling.missing)
            first, *more = text.splitlines()
            line = f"  # line {change.site.stmt.lineno}" if len(outer) > 1 else ""
            yield "\n".join([f"{first}{line}", *more])


def _outer(changes: Sequence[_Change]) -> list[_Change]:
    """Return the changes that are none to what another one wrote."""
    return [
        change
        for index, change in enumerate(changes)
        if not any(before.holds(change) for before in changes[:index])
    ]


def _replaced(change: _Change) -> str:
    """Return the statements that a change replaces."""
    old = [change.site.stmt, *change.site.following][: change.edit.count]
    text = _head(change, "\n".join(map(ast.unparse, old)))
    is_lambda = change.site.function.__name__ == "<lambda>"
    return text.removeprefix("return ") if is_lambda else text


def _head(change: _Change, text: str) -> str:
    """Return the head alone of a statement whose body stays."""
    old, new = change.site.stmt, change.edit.new
    same = len(new) == 1 and type(new[0]) is type(old)
    return text.splitlines()[0] if getattr(old, "body", None) and same else text


def _is_elsewhere(attempt: _Attempt, place: origin.Place) -> bool:
    """Whether what is left is another fault than that which was to be mended."""
    places = origin.places(attempt.error) if attempt.error else []
    if not places:
        return False
    function = attempt.changes[-1].function
    is_here = places[0].code in call_graph.codes(function.__code__)
    return not (is_here and places[0].line == place.line)
