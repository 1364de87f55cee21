"""The loop of Keras's ``model.fit``, whose steps its callbacks mark."""

import ast
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from types import MethodType
from typing import Any

from ipyjaxbench.frameworks import Framework
from ipyjaxbench.steps.insert_marks import Site
from ipyjaxbench.steps.loop_watch import LoopWatch
from ipyjaxbench.steps.marks import Marks
from ipyjaxbench.steps.step_rows import Row
from ipyjaxbench.usercode import is_of

#: What stands for the object in the new tree that hands on `fit`.
FIT = "__fw_fit"
STEP, CALLBACKS = 0, 1  # sites
#: Backends whose steps draw their batches themselves.
_DRAW_INSIDE = ("jax", "tensorflow")


def find_fit(tree: ast.Module) -> ast.Call | None:
    """Return the first call of a method ``fit`` in a cell."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return next(
        (c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "fit"), None
    )


def fit_sites(call: ast.Call) -> list[Site]:
    """Return the sites of a call: the step, other callbacks, and what is around both."""
    at = ast.copy_location(ast.Expr(call), call)
    return [Site(call.lineno, at, (call,)) for _ in range(3)]


def mark_fit(call: ast.Call) -> None:
    """Have a call of ``model.fit`` hand on the method that brings marks along."""
    hook = ast.Attribute(ast.Constant(FIT), "marked", ast.Load())
    call.func = ast.copy_location(ast.Call(hook, [call.func], []), call.func)


class MarkedFit:
    """Hands on a method ``fit`` that brings callbacks with marks along.

    Args:
        marks: for the callbacks.
        watch: is told what computes.
    """

    def __init__(self, marks: Marks, watch: LoopWatch) -> None:
        self._marks, self._watch = marks, watch
        self.backend = ""

    def marked(self, method: Any) -> Any:
        """Return a method of a Keras model with marks; another one as it is."""
        keras: Any = sys.modules.get("keras")
        owner = method.__self__ if type(method) is MethodType else None
        if keras is None or not is_of(owner, keras.Model):
            return method
        self.backend = str(keras.config.backend())

        @wraps(method)
        def fit(*args: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            known = [*signature(method).parameters]
            place = known.index("callbacks") if "callbacks" in known else len(args)
            before = args[place] if place < len(args) else named.get("callbacks")
            own = [*before] if isinstance(before, list | tuple) else [before]
            first, last = _callbacks(keras.callbacks.Callback, self._marks)
            marked = [first, *(each for each in own if each is not None), last]
            if place < len(args):
                return method(*args[:place], marked, *args[place + 1 :], **named)
            return method(*args, **named | {"callbacks": marked})

        return fit

    @property
    def draws_inside(self) -> bool:
        """Whether batches are drawn inside of a step, where callbacks do not see it."""
        return self.backend in _DRAW_INSIDE

    def settle(self, frameworks: Iterable[Framework], rows: Iterable[Row]) -> None:
        """Say what computes in the steps, and whose the time between them is."""
        for framework in frameworks:
            if framework.name == self.backend:
                self._watch.kinds.dispatching[STEP] = self.backend
                in_call = self.draws_inside or not framework.runs_ahead()
                self._watch.kinds.in_call[STEP] = [in_call]
        for row in rows if self.draws_inside else ():
            row.busy[CALLBACKS] = row.busy.get(CALLBACKS, 0) + row.data
            row.data = 0


def _callbacks(base: Any, marks: Marks) -> tuple[Any, Any]:
    """Return the first and the last of the callbacks; in between are the user's."""

    def method(work: Callable[[], object]) -> Callable[..., None]:
        def call(self: object, *_: object, **__: object) -> None:  # noqa: ARG001
            work()

        return call

    def end_of_step() -> None:
        marks.mark(CALLBACKS)
        marks.end()

    first = {
        "on_epoch_begin": method(marks.begin),
        "on_train_batch_begin": method(marks.body),
        "on_train_batch_end": method(lambda: marks.mark(STEP)),
        "on_epoch_end": method(marks.over),
    }
    last = {"on_train_batch_end": method(end_of_step)}
    return type("StepMarks", (base,), first)(), type("StepMarks", (base,), last)()
