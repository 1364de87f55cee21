"""What a test calls: measures calls of a function and returns what the function returns."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ipyjaxbench.benchmarks.reference import LOOP, measure_relative
from ipyjaxbench.benchmarks.run import Run
from ipyjaxbench.comparison import CompareOptions
from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.records import Benchmark
from ipyjaxbench.timing import (
    NO_FIGURE,
    Measurement,
    PreparedCall,
    TimeOptions,
    measured_again,
    refuse_misplaced,
)
from ipyjaxbench.usercode import loop_runs, refuse_uncallable

T = TypeVar("T")
_OPTIONS = ("loops", "repeat", "budget", "setup")
_COMPUTES = 0.5  # of the time, from which on calls are slowed down as a loop is
#: Seconds beside the loop, for both together.
_BUDGETS = {"quick": 1.0, "usual": 3.0}


@dataclass(frozen=True)
class _How:
    """How calls are measured, and what comes before them."""

    options: TimeOptions = field(default_factory=TimeOptions)
    setup: Callable[[], object] | None = None

    @property
    def beside(self) -> CompareOptions:
        """How they are measured beside a loop."""
        asked = self.options
        if asked.number is not None:
            return CompareOptions(number=asked.number, baseline=LOOP)
        return CompareOptions(budget=asked.budget or _BUDGETS[asked.aim], baseline=LOOP)


class Fixture:
    """Measures calls of a function in a test.

    Args:
        run: collects what is measured.
        test: its name.
        slower: gets a line for each measurement for which the test is to fail.

    Example:
        >>> # fwbench(step, params, batch)
        >>> # fwbench.options(repeat=20, setup=reset)(step, params, batch)
    """

    def __init__(self, run: Run, test: str, slower: list[str], how: _How | None = None) -> None:
        self._run, self._test, self._slower = run, test, slower
        self._how = how or _How(TimeOptions(aim="quick" if run.settings.quick else "usual"))

    def __call__(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Measure calls of a function with these arguments, and return what the first one returns.

        Args:
            function: what to call; a coroutine function is awaited.
            *args: its positional arguments.
            **kwargs: its keyword arguments.

        Raises:
            SnippetError: this is not a function, or it has to be awaited in an asynchronous test.
            OptionError: an option is given as an argument that the function does not have.
            Exception: whatever the function raises.

        Example:
            >>> # assert fwbench(sorted, [2, 1]) == [1, 2]
        """
        __tracebackhide__ = True
        refuse_uncallable(function, "write fwbench(f, x)")
        refuse_misplaced(function, kwargs, _OPTIONS, "fwbench.options({})(f, x)")
        is_awaited = inspect.iscoroutinefunction(function)
        if is_awaited and loop_runs():
            raise SnippetError(
                "fwbench awaits coroutine functions by itself, on an event loop of its own: call it"
                " in a test that is a plain def, not an async def"
            )
        if self._run.settings.called_only:
            value: T = self._call(function, args, kwargs, is_awaited=is_awaited)
            return value

        call = PreparedCall(function, args, kwargs, self._how.setup)
        measured, value = self._measure(call)
        if self._run.is_slower(measured):
            # Noise seldom comes twice: the faster of two measurements counts.
            with measured_again(call.snippet):
                again, _ = self._measure(call)
            measured = again if not self._run.is_slower(again) else measured
        if why := self._run.keep(measured):
            self._slower.append(why)
        return value

    def _measure(self, call: PreparedCall) -> tuple[Benchmark, Any]:
        """Return a measurement with what it is held against, and what the call gave."""
        __tracebackhide__ = True
        found, value = call.measure(self._how.options)
        relative = None
        if found.verdict not in (*NO_FIGURE, "RECOMPILES") and not _waits(found):
            with measured_again(call.snippet):
                relative = measure_relative(call, found.median, self._how.beside)
        return self._run.judge(self._test, found, relative), value

    def options(
        self,
        *,
        loops: int | None = None,
        repeat: int | None = None,
        budget: float | None = None,
        setup: Callable[[], object] | None = None,
    ) -> "Fixture":
        """Return the same with other options.

        Args:
            loops: calls per sample; None lets the clock's resolution decide.
            repeat: number of samples; None stops when the median is precise enough.
            budget: seconds to spend after the first call; None leaves it to the usual rule.
            setup: called, untimed, before the first call and before each sample.

        Raises:
            OptionError: an option is invalid.

        Example:
            >>> # fwbench.options(loops=1, repeat=50, setup=clear_cache)(load, path)
        """
        __tracebackhide__ = True
        if setup is not None and not callable(setup):
            raise OptionError(f"setup={setup!r}: must be a function without arguments")
        chosen = (loops, repeat, budget) != (None, None, None)
        aim = "usual" if chosen else self._how.options.aim
        options = TimeOptions(number=loops, repeat=repeat, budget=budget, aim=aim)
        return Fixture(self._run, self._test, self._slower, _How(options, setup))

    def _call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        is_awaited: bool,
    ) -> Any:
        """Call it once, as a plain test does."""
        __tracebackhide__ = True
        self._run.called += 1
        if self._how.setup is not None:
            self._how.setup()
        if not is_awaited:
            return function(*args, **kwargs)
        import asyncio

        return asyncio.run(function(*args, **kwargs))


def _waits(found: Measurement) -> bool:
    """Whether calls wait, as for a timer or a file, more than they compute or queue for a CPU.

    What slows a loop down does not slow them down, so that nothing is learnt from one.
    """
    around = found.conditions
    if around is None or not around.wall:
        return False
    return around.cpu + (around.waited or 0.0) < _COMPUTES * around.wall
