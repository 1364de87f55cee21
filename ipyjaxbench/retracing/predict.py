"""Predicts whether the calls in some code would be traced; nothing is run to find out."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.retracing.cache_key import Change, Signature, describe_changes
from ipyjaxbench.retracing.first_calls import DROPPED, is_said_first
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs, call_watches
from ipyjaxbench.retracing.stale import find_possible, find_stale, find_unknown
from ipyjaxbench.retracing.static_evaluation import StaticValues, UnknownError
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import TracedCall, Traces
from ipyjaxbench.retracing.uncached import why_of_unseen
from ipyjaxbench.usercode import Namespace, Source, ask, call_of

_STATES = {True: "WOULD-TRACE", False: "WOULD-HIT", None: "?"}
_COMPILES = "WOULD-COMPILE"
_DEFINITIONS = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def predict_code(source: Source, names: Namespace) -> Traces:
    """Say whether the calls in some code would be traced; nothing is run, traced or compiled.

    The result has a call with the state "WOULD-TRACE", "WOULD-COMPILE", "WOULD-HIT" or "?" for each
    call of a compiled function, the innermost first.

    Raises:
        SnippetError: no framework compiles what is called, as far as that is known.
    """
    __tracebackhide__ = True
    prediction = _Prediction(source, names)
    try:
        prediction.follow(source.tree.body)
    except NameError as error:
        raise error.with_traceback(None) from None  # the user's own line is enough
    text = source.text.strip()
    if prediction.calls:
        return Traces(text, prediction.versions, tuple(prediction.calls))
    why = "--predict looks at what jax.jit, torch.compile and tf.function return"
    if prediction.unknown:
        function = prediction.unknown[-1]
        why = f"{function} is created at run time: assign it to a name first"
    raise SnippetError(f"{text!r} calls no compiled function: {why}")


class _Prediction:
    """What is known of the calls in some code."""

    def __init__(self, source: Source, names: Namespace) -> None:
        self._watches = [*call_watches(loaded()[0])]
        self._values = StaticValues(source, names, self._is_compiled, _is_array)
        self._made: list[tuple[str, str, Signature]] = []  # by the calls so far
        self.calls: list[TracedCall] = []
        self.versions: dict[str, str] = {}  # of the frameworks of these calls
        self.unknown: list[str] = []  # what is called, and is not known

    def follow(self, statements: Sequence[ast.stmt]) -> None:
        """Predict the calls in statements, in the order in which they would run."""
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._predict(statement)
                    self._values.bind(name, value)
                case _:
                    for name in _bound_by(statement):
                        self._values.bind(name)
                    self._predict(statement)

    def _predict(self, node: ast.AST) -> None:
        """Predict the calls in a statement, those among the arguments of others first."""
        for call in _calls_in(node):
            try:
                function = self._values.evaluate(call.func)
            except UnknownError:
                self.unknown.append(ast.unparse(call.func))
                continue
            taken = next(self._takers(function), None)
            if taken is not None:
                self.calls.append(self._predict_call(call, *taken))
                self.versions[taken[1].name] = taken[1].version()

    def _takers(self, function: Any) -> Iterator[tuple[Any, Framework, CallWatch]]:
        """Yield who compiles what is called, or the method that calls it."""
        for called in (function, call_of(function)):
            for framework, watch in self._watches:
                if called is not None and ask(watch.takes, called):
                    yield called, framework, watch

    def _predict_call(
        self, call: ast.Call, function: Any, framework: Framework, watch: CallWatch
    ) -> TracedCall:
        name = watch.name(function)
        args, kwargs, why = self._arguments(call)
        is_traced, says, compiles = None, "", False
        fixes: tuple[str, ...] = ()
        if not why:
            is_traced = watch.predicts(function, args, kwargs)
            key = framework.name, name, watch.signature(function, args, kwargs)
            if is_traced and key in self._made:  # by a call before it
                is_traced = False
            elif is_traced:
                if watch.kept.are_dropped(function, args, kwargs):
                    TRACE_LOG.drop(framework.name, name, key[2].function)
                known = watch.evidence(function, args, kwargs)
                why = TRACE_LOG.reasons(
                    *key, placed=False, accepted=known.accepted, beside=known.beside
                )
                if is_said_first(why):
                    why = why_of_unseen(watch, function, key[2]) or why
                if known.changes and (why in ([], [DROPPED]) or is_said_first(why)):
                    why = [*known.changes]
                self._made.append(key)
            elif is_traced is None:
                says = "cannot be predicted without running the call"
            else:
                says, fixes = _stale(watch, function, args, kwargs)
                compiles = key not in self._made and not watch.kept.may_be_compiled(function)
                self._made.append(key)
        number = 1 + sum(each.name == name for each in self.calls)
        return TracedCall(
            name, framework.name, call.lineno, ast.unparse(call), number, 1,
            _COMPILES if compiles else _STATES[is_traced], 0.0, {}, tuple(why), says, fixes,
        )  # fmt: skip

    def _arguments(self, call: ast.Call) -> tuple[list[Any], dict[str, Any], list[Change]]:
        """Return the arguments of a call, and those that are not known as changes."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        unknown = []
        nodes: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        for node in nodes:
            try:
                if isinstance(node, ast.keyword):
                    key = None if node.arg is None else ast.Constant(node.arg)
                    kwargs |= self._values.entries([(key, node.value)])
                else:
                    args += self._values.items([node])
            except UnknownError as error:
                unknown.append(Change("unknown", ast.unparse(error.node)))
        return args, kwargs, unknown

    def _is_compiled(self, value: object) -> bool:
        return any(ask(watch.takes, value) for _, watch in self._watches)


def _stale(
    watch: CallWatch, function: Any, args: Args, kwargs: Kwargs
) -> tuple[str, tuple[str, ...]]:
    """Return in words that the program which a call finds may be stale, and what to write."""
    if watch.is_guarded:
        found, is_known = find_stale(watch, function, args, kwargs), True
        if not found and (unknown := find_unknown(watch, function, args, kwargs)):
            return f"may be stale: {unknown}", ()
    else:
        found, is_known = find_possible(watch, function, args, kwargs)
    if not found:
        return "", ()
    verdict = "stale program" if is_known else "may be stale"
    return f"{verdict}: {describe_changes(found)}", watch.fixes(
        watch.name(function), found, function
    )


def _is_array(value: object) -> bool:
    return any(ask(each.owns, type(value)) for each in loaded()[0])


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that running a node makes, in Python's order; not those in functions."""
    if isinstance(node, _DEFINITIONS):
        return
    for child in ast.iter_child_nodes(node):
        yield from _calls_in(child)
    if isinstance(node, ast.Call):
        yield node


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may bind."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
