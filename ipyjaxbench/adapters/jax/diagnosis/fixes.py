"""What to write instead: each fix is traced, and computed under jit, before it is shown."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import FunctionType

from ipyjaxbench.adapters.jax import origin
from ipyjaxbench.adapters.jax.diagnosis import call_graph
from ipyjaxbench.adapters.jax.diagnosis.eager_check import Eager
from ipyjaxbench.adapters.jax.diagnosis.rules import branches, calls, loops, masks
from ipyjaxbench.adapters.jax.diagnosis.swap_function import with_function
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site, Sources, sites, statements
from ipyjaxbench.graphs import Fix
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import Call

_MOST_EDITS = 3  # in one fix
_MOST_TRIES = 60
_MOST_SECONDS = 8.0
_CLOCK = Clock.elapsed()
#: Rules for one kind of code: the first that helps is told.
_RULES = (
    (masks.where_in_reduction,),
    (masks.zeros_for_mask, masks.zeros_for_slice),
    (masks.slice_of_fixed_size,),
    (
        masks.where_for_masked_assignment,
        masks.where_for_masked_at,
        masks.at_for_item,
        masks.at_for_numpy_item,
    ),
    (branches.WHERE_IN_EXPRESSIONS,),
    (branches.logical,),
    (
        *branches.WHERE_FOR_IF,
        branches.cond_for_returns,
        branches.cond_for_assigned,
    ),
    (loops.fori_loop, loops.while_loop),
    (branches.jax_for_builtins,),
    (calls.debug_print,),
    (calls.jax_for_numpy,),
    (calls.numpy_for_jax,),
    (calls.array_for_number,),
    (calls.array_for_list, calls.switch_for_list),
    (masks.sized,),
)


@dataclass(frozen=True)
class _Done:
    """A change that was made.

    Attributes:
        edit: what was changed.
        site: where.
        function: the function that came of it.
    """

    edit: Edit
    site: Site
    function: FunctionType

    def holds(self, other: "_Done") -> bool:
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
class _State:
    """A call, as far as it is mended.

    Attributes:
        call: with changed functions.
        error: what tracing it raises.
        done: the changes, in their order.
    """

    call: Call
    error: Exception
    done: tuple[_Done, ...] = field(default=())


class Fixes:
    """Looks for what to write instead.

    Args:
        call: as it was tried.
        failed: how it failed.
        error: what is to be mended, where the code turned it into another error.
    """

    def __init__(self, call: Call, failed: tracing.NoChoiceError, error: Exception) -> None:
        self._call, self._failed, self._error = call, failed, error
        self.eager = Eager(call)
        self._sources = Sources()
        self._tries = 0
        self._end = _CLOCK.now() + _MOST_SECONDS * 1e9

    def find(self) -> Iterator[Fix]:
        """Fixes with which the call traces, and gives what it gives without jit."""
        yield from self._of_state(_State(self._call, self._error))

    def _of_state(self, state: _State) -> Iterator[Fix]:
        """What mends the innermost of the user's lines, or else one that led there."""
        for place in origin.places(state.error)[:_MOST_EDITS]:
            fixes = [*self._at(state, place)]
            yield from fixes
            if fixes:
                return

    def _at(self, state: _State, place: origin.Place) -> Iterator[Fix]:
        function = call_graph.find(state.call, place.code)
        definition = self._sources.definition(function) if function else None
        if function is None or definition is None:
            return
        for site in sites(definition, place.line, function):
            for group in _RULES:
                for rule in group:
                    fixes = [*self._by(state, site, [*rule(site)], place)]
                    yield from fixes
                    if fixes:
                        break

    def _by(
        self, state: _State, site: Site, edits: list[Edit], place: origin.Place
    ) -> Iterator[Fix]:
        """The first of a rule's edits that helps, alone or with others elsewhere."""
        for edit in edits:
            now = self._tried(state, site, edit)
            if now is None:
                continue
            fix = None
            if now.error is state.error:
                fix = self._checked(now)
            elif len(now.done) < _MOST_EDITS and _is_elsewhere(now, place):
                fix = next(self._of_state(now), None)
            if fix is not None:
                yield fix
                return

    def _tried(self, state: _State, site: Site, edit: Edit) -> _State | None:
        """The call with a change; its error is the same object where there is none any more."""
        if self._tries >= _MOST_TRIES or _CLOCK.now() > self._end:
            return None
        function = self._sources.build(site.edited(edit), site.function)
        if function is None:
            return None
        self._tries += 1
        try:
            changed = with_function(state.call, site.function, function)
        except Exception:  # noqa: BLE001  an object of the user's may refuse to be copied
            return None
        error = tracing.error_of(changed, self._failed.static)
        done = (*state.done, _Done(edit, site, function))
        return replace(state, call=changed, error=error or state.error, done=done)

    def _checked(self, state: _State) -> Fix | None:
        """The fix, where under jit it gives what the code gives without, or says what it changes.

        What it says that it changes, it changes without jit and under jit alike.
        """
        may_differ = any(not each.edit.same for each in state.done)
        eager = Eager(state.call) if may_differ else self.eager
        agrees = eager.agrees(state.call, self._failed.static)
        if agrees is False:
            return None
        same = agrees and not may_differ
        missing: dict[str, None] = {}
        code = "\n".join(self._code_lines(state, missing))
        costs = [each.edit.changes for each in state.done if each.edit.changes]
        if missing:
            costs.append(f"import {', '.join(missing)}")
        if self._failed.static:
            static = self._failed.static
            costs.append(f"with static_argnames={static[0] if len(static) == 1 else static!r}")
        return Fix(code, "; ".join(dict.fromkeys(costs)), same=self.eager.how if same else "")

    def _code_lines(self, state: _State, missing: dict[str, None]) -> Iterator[str]:
        """What to write; a change of what another one wrote is shown in that."""
        shown = [
            each
            for index, each in enumerate(state.done)
            if not any(before.holds(each) for before in state.done[:index])
        ]
        for each in shown:
            inner = [later for later in state.done if each.holds(later)]
            definition = self._sources.definition((inner[-1] if inner else each).function)
            new = statements(definition, each.site.trail) if definition else []
            new = new[: len(each.edit.new)]
            spelling = Spelling(each.site.function)
            text = _head(each, ast.unparse(spelling.tree(new)))
            if each.site.function.__name__ == "<lambda>" and len(new) == 1:
                text = text.removeprefix("return ")  # an expression has none
            missing.update(spelling.missing)
            first, *more = text.splitlines()
            line = f"  # line {each.site.stmt.lineno}" if len(shown) > 1 else ""
            yield "\n".join([f"{first}{line}", *more])


def _head(done: _Done, text: str) -> str:
    """Of a statement whose body stays, what stands before it."""
    has_body = getattr(done.site.stmt, "body", None)
    same = len(done.edit.new) == 1 and type(done.edit.new[0]) is type(done.site.stmt)
    return text.splitlines()[0] if has_body and same else text


def _is_elsewhere(now: _State, place: origin.Place) -> bool:
    """Whether what is left is another fault than that which was to be mended."""
    places = origin.places(now.error)
    if not places:
        return False
    function = now.done[-1].function
    is_here = places[0].code in call_graph.codes(function.__code__)
    return not (is_here and places[0].line == place.line)
