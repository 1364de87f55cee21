"""One more call, made cold: what compiling costs, though everything was compiled before."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import ColdCall, Compilation, Framework, Scope
from ipyjaxbench.timing.compile_cost import ColdCallResult
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.usercode import Namespace, ask, describe_error


def make_cold_call(
    calls: Calls, scope: Scope, frameworks: Sequence[Framework], *, ended_early: bool
) -> ColdCallResult:
    """Make one call for which nothing is used that was compiled before.

    It has no time where it was not made, failed, or compiled nothing.
    """
    __tracebackhide__ = True
    if ended_early:
        return _none("the measurement ended early")
    try:
        return _call_cold(calls, scope, frameworks)
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        return _none("interrupted")
    # The other calls are a result, whatever the user's code raises in this one.
    except CODE_ERRORS as error:
        return _none(f"the cold call raised {describe_error(error)}")


def _none(reason: str) -> ColdCallResult:
    return ColdCallResult(None, {}, cleared=(reason,))


def _call_cold(calls: Calls, scope: Scope, frameworks: Sequence[Framework]) -> ColdCallResult:
    __tracebackhide__ = True
    with ExitStack() as stack:
        calls.set_up()
        ways: list[tuple[Compilation, ColdCall]] = []
        for framework in frameworks:
            compiler = framework.capability(Compilation)
            context = compiler.cold_call(*_compiled_by(compiler, scope))
            if context is not None:
                ways.append((compiler, stack.enter_context(context)))
        if not ways:
            names = " and ".join(framework.name for framework in frameworks)
            return _none(f"nothing here is compiled ({names})")
        caveats = [text for _, way in ways for text in way.caveats]
        stand_ins = {name: f for _, way in ways for name, f in way.stand_ins.items()}
        functions = [*stand_ins.values(), *scope.compiled]
        stack.enter_context(_bound(scope.snippet.names, stand_ins))
        watches = [stack.enter_context(compiler.watch(functions)) for compiler, _ in ways]
        first = calls.first()
        phases = {name: s for watch in watches for name, s in watch.phases().items()}
        programs = tuple(program for watch in watches for program in watch.programs())
    seconds = (first.taken + first.left) * 1e-9
    if not programs and not phases:
        return ColdCallResult(None, {}, (), (*caveats, "nothing was recompiled"))
    return ColdCallResult(seconds, phases, programs, tuple(caveats))


def _compiled_by(compiler: Compilation, scope: Scope) -> tuple[dict[str, object], list[object]]:
    """Return the functions that are compiled: by the names that can be bound, and others."""
    values = {n: v for n, v in scope.read_values.items() if n not in scope.snippet.binds}
    named = {name: value for name, value in values.items() if ask(compiler.compiles, value)}
    held = {id(value) for value in named.values()}
    others = [function for function in scope.compiled if id(function) not in held]
    return named, [function for function in others if ask(compiler.compiles, function)]


@contextmanager
def _bound(names: Namespace, stand_ins: Mapping[str, object]) -> Iterator[None]:
    """Bind names to something else meanwhile, unless the code binds them itself."""
    before = {name: names[name] for name in stand_ins}
    names.update(stand_ins)
    try:
        yield
    finally:
        for name, value in before.items():
            if names.get(name) is stand_ins[name]:
                names[name] = value
