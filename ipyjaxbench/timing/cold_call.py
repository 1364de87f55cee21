"""Calls made cold: what compiling costs, though everything was compiled before.

With several, also whether what is compiled each time is equally fast: a compiler that times
candidates may pick another kernel each time.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import ColdCall, Compilation, Framework, Scope, private_work
from ipyjaxbench.timing.call_times import First
from ipyjaxbench.timing.compile_cost import ColdCallResult, Recompilation
from ipyjaxbench.timing.compile_passes import CompilePasses
from ipyjaxbench.timing.protocol import Profiler
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.usercode import Namespace, ask, describe_error

_ROUNDS = 5  # in each, all programs are timed: by chance one is not slower in all of them
_MIN_SAMPLES, _MAX_SAMPLES = 2, 10  # of a program in a round

#: Has later calls use what a cold call compiled.
_Resume = Callable[[], AbstractContextManager[object]]


class Sampling(NamedTuple):
    """How the program of each cold call is timed.

    Attributes:
        number: cold calls to make.
        loops: calls per sample.
        seconds: that the samples of all programs take together.
        passes: whether the first of them is made under the profilers of compilers.
    """

    number: int
    loops: int
    seconds: float
    passes: bool = False


def make_cold_calls(
    calls: Calls,
    scope: Scope,
    frameworks: Sequence[Framework],
    sampling: Sampling,
    *,
    ended_early: bool,
) -> ColdCallResult:
    """Make calls, each of which compiles everything again.

    The result has no time where none was made, the first one failed, or compiled nothing. Of
    several it is the middle one, with all of them in ``recompiled``; what ends them early is said.
    """
    __tracebackhide__ = True
    if ended_early:
        return _none("the measurement ended early")
    made: list[tuple[ColdCallResult, _Resume]] = []
    rounds: list[list[float]] = []
    ended = ""
    try:
        while len(made) < sampling.number and not (made and made[-1][0].seconds is None):
            passes = sampling.passes and not made
            made.append(_call_cold(calls, scope, frameworks, passes=passes))
        if sampling.number > 1 and made[-1][0].seconds is not None:
            rounds = _time_in_turn(calls, [nullcontext, *(resume for _, resume in made)], sampling)
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        ended = "interrupted"
    # The other calls are a result, whatever the user's code raises in these.
    except CODE_ERRORS as error:
        which = "a later call" if len(made) == sampling.number else "the cold call"
        ended = f"{which} raised {describe_error(error)}"
    return _middle([cold for cold, _ in made], rounds, sampling.number, ended)


def _none(reason: str) -> ColdCallResult:
    return ColdCallResult(None, {}, cleared=(reason,))


def _middle(
    made: Sequence[ColdCallResult], rounds: Sequence[Sequence[float]], wanted: int, ended: str
) -> ColdCallResult:
    timed = [(c.seconds, place) for place, c in enumerate(made) if c.seconds is not None]
    if not timed:
        return _none(ended) if ended else made[-1]
    middle = replace(made[sorted(timed)[len(timed) // 2][1]], passes=made[0].passes)
    if ended:
        short = f"{len(timed)} of {wanted} made; " if len(timed) < wanted else ""
        middle = replace(middle, cleared=(*middle.cleared, f"{short}{ended}"))
    if not rounds:
        return middle
    usual, *others = zip(*rounds, strict=True)
    pairs = zip(timed, others, strict=True)
    recompiled = tuple(Recompilation(seconds, tuple(times)) for (seconds, _), times in pairs)
    return replace(middle, recompiled=recompiled, usual=min(usual))


def _time_in_turn(
    calls: Calls, programs: Sequence[_Resume], sampling: Sampling
) -> list[list[float]]:
    """Return, for each round and program, the seconds of a call by the fastest sample."""
    __tracebackhide__ = True
    each = int(sampling.seconds * 1e9 / (_ROUNDS * len(programs)))
    rounds = []
    for _ in range(_ROUNDS):
        taken = []
        for resume in programs:
            with resume():
                taken.append(_time(calls, sampling.loops, each))
        rounds.append(taken)
    return rounds


def _time(calls: Calls, loops: int, nanoseconds: int) -> float:
    __tracebackhide__ = True
    end = calls.clock.wall() + nanoseconds
    taken: list[float] = []
    while len(taken) < _MIN_SAMPLES or (len(taken) < _MAX_SAMPLES and calls.clock.wall() < end):
        taken.append(calls.sample(loops).ns / loops)
    return min(taken) * 1e-9


def _call_cold(
    calls: Calls, scope: Scope, frameworks: Sequence[Framework], *, passes: bool
) -> tuple[ColdCallResult, _Resume]:
    """Make one cold call; return how later calls use what it compiled, too."""
    __tracebackhide__ = True
    with ExitStack() as stack:
        calls.set_up()
        stack.enter_context(private_work())
        ways: list[tuple[Compilation, ColdCall]] = []
        for framework in frameworks:
            compiler = framework.capability(Compilation)
            context = compiler.cold_call(*_compiled_by(compiler, scope))
            if context is not None:
                ways.append((compiler, stack.enter_context(context)))
        if not ways:
            names = " and ".join(framework.name for framework in frameworks)
            return _none(f"nothing here is compiled ({names})"), nullcontext
        caveats = tuple(text for _, way in ways for text in way.caveats)
        stand_ins = {name: f for _, way in ways for name, f in way.stand_ins.items()}
        functions = [*stand_ins.values(), *scope.compiled]
        stack.enter_context(_bound(scope.snippet.names, stand_ins))
        watches = [stack.enter_context(compiler.watch(functions)) for compiler, _ in ways]
        profilers = [compiler.framework for compiler, _ in ways] if passes else []
        first, profiled = _profiled(calls.first, profilers)
        phases = {name: s for watch in watches for name, s in watch.phases().items()}
        programs = tuple(program for watch in watches for program in watch.programs())
    seconds = (first.taken + first.left) * 1e-9
    told = [each.compiling for each in profiled if each.compiling is not None]
    if told and phases.get("compile") is None:
        phases["compile"] = math.fsum(told)
    if not programs and not phases:
        return ColdCallResult(None, {}, (), (*caveats, "nothing was recompiled")), nullcontext

    @contextmanager
    def resume() -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(private_work())
            stack.enter_context(_bound(scope.snippet.names, stand_ins))
            for _, way in ways:
                stack.enter_context(way.resume())
            yield

    return ColdCallResult(seconds, phases, programs, caveats, passes=profiled), resume


def _profiled(
    call: Callable[[], First], frameworks: Sequence[Framework]
) -> tuple[First, tuple[CompilePasses, ...]]:
    """Make a call under the profilers of some compilers, each inside of the one before."""
    __tracebackhide__ = True
    made: list[First] = []
    passes: list[CompilePasses] = []

    def run() -> None:
        __tracebackhide__ = True
        made.append(call())

    def within(framework: Framework, run: Callable[[], None]) -> Callable[[], None]:
        def profile() -> None:
            __tracebackhide__ = True
            found = framework.capability(Profiler).profile_compilation(run)
            if found is not None:
                passes.append(found)
            if not made:  # the profiler could not be started
                run()

        return profile

    for framework in frameworks:
        run = within(framework, run)
    run()
    return made[0], tuple(passes)


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
