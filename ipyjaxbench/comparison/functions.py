"""Compares functions, as the Python API does: their calls become arms, as a cell's lines do."""

import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.comparison import Comparison
from ipyjaxbench.comparison.interleave import compare_snippets
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.run_sweep import sweep_snippets
from ipyjaxbench.comparison.sweep import Sweep
from ipyjaxbench.errors import OptionError, short_errors
from ipyjaxbench.usercode import Namespace, Snippet, Source, ask, name_of

Function = Callable[..., Any]


@overload
def compare(
    functions: Mapping[str, Function],
    /,
    *args: Any,
    setup: Function | Mapping[str, Function] | None = ...,
    sweep: None = ...,
    baseline: str | None = ...,
    number: int | None = ...,
    repeat: int | None = ...,
    aim: str = ...,
    budget: float | None = ...,
    align: bool = ...,
    keep_going: bool = ...,
    restore: bool = ...,
) -> Comparison: ...
@overload
def compare(
    functions: Mapping[str, Function],
    /,
    *args: Any,
    setup: Function | Mapping[str, Function] | None = ...,
    sweep: Mapping[str, Iterable[Any]],
    baseline: str | None = ...,
    number: int | None = ...,
    repeat: int | None = ...,
    aim: str = ...,
    budget: float | None = ...,
    align: bool = ...,
    keep_going: bool = ...,
    restore: bool = ...,
) -> Sweep: ...
@short_errors
def compare(  # noqa: PLR0913  one for each option of the magic
    functions: Mapping[str, Function],
    /,
    *args: Any,
    setup: Function | Mapping[str, Function] | None = None,
    sweep: Mapping[str, Iterable[Any]] | None = None,
    baseline: str | None = None,
    number: int | None = None,
    repeat: int | None = None,
    aim: str = "usual",
    budget: float | None = None,
    align: bool = False,
    keep_going: bool = False,
    restore: bool = True,
) -> Comparison | Sweep:
    """Compare calls of functions with the same arguments, as ``%%fwcompare`` does.

    Args:
        functions: what to call, by label; asynchronous work that they start is waited for.
        *args: the positional arguments of all of them.
        setup: a function that returns the arguments instead (several as a tuple), called once; or
            such functions by label, each called untimed before every sample of that arm (with
            ``number=1``: before every call).
        sweep: values by name, as in ``{"n": [100, 1000]}``; the functions are compared at each.
            The values are passed by name: to the setup, or to the functions if there is none.
        baseline: label of the one to compare the others with; None takes the first.
        number: calls per sample; None has it chosen.
        repeat: samples of each function; None stops when the ratios are steady.
        aim: "quick", "usual" or "precise": when the ratios are steady enough.
        budget: seconds to spend after the first calls; None takes 2.2 for each function.
        align: all CPUs and full matrix precision for all of them.
        keep_going: raise nothing where one of them fails and others do not.
        restore: put back what later calls change in place, as the first calls left it.

    Returns:
        The comparison: ``.ratio(label)``, ``.verdict(label)``, and a measurement by ``[label]``; or
        the sweep, with a comparison for each point.

    Raises:
        OptionError: a value breaks a rule, or there are fewer than two functions.
        ArmFailedError: a function failed; its ``result`` is the comparison of the others.
        KeyboardInterrupt: the user ended it; its ``result`` is of the calls made until then.

    Example:
        >>> found = compare({"small": sum, "large": sorted}, [3, 1, 2], budget=0.1)
        >>> found["small"].median > 0
        True
        >>> sizes, make = {"n": [10, 100]}, lambda n: list(range(n))
        >>> found = compare({"a": sum, "b": sorted}, setup=make, sweep=sizes, budget=0.1)
        >>> len(found.points)
        2
    """
    __tracebackhide__ = True
    options = CompareOptions(
        baseline=baseline, number=number, repeat=repeat, aim=aim, budget=budget, align=align,
        keep_going=keep_going, restore=restore,
    )  # fmt: skip
    _refuse(functions, args, setup, sweep)
    options.check(list(functions))
    swept = {name: list(values) for name, values in (sweep or {}).items()}
    common, arms = _make_arms(functions, args, setup, swept)
    if swept:
        return sweep_snippets(common, arms, swept, options)
    if common is not None:
        common.run()
    return compare_snippets(arms, options)


def _make_arms(
    functions: Mapping[str, Function],
    args: Sequence[object],
    setup: Function | Mapping[str, Function] | None,
    swept: Mapping[str, object],
) -> tuple[Snippet | None, list[ArmSpec]]:
    """Return code that makes the arguments of all calls, if there is any, and the calls."""
    calls = _Calls(swept)
    shared = calls.bind_arguments(args)
    common: Snippet | None = None
    own: Mapping[str, Function] = {}
    if isinstance(setup, Mapping):
        own = setup
    elif setup is not None:
        common, shared = calls.make_arguments("setup", setup)
    arms: list[ArmSpec] = []
    for label, function in functions.items():
        before, arguments = None, shared
        if label in own:
            before, arguments = calls.make_arguments(f"setup_{len(arms)}", own[label])
        # Who made the arguments has seen the swept values, and the function has not.
        passed = [] if before or common else [f"{name}={name}" for name in swept]
        name = calls.bind(label, f"arm{len(arms)}", function)
        code = f"{name}({', '.join([*arguments, *passed])})"
        arms.append(ArmSpec(label, calls.snippet(code), before))
    return common, arms


class _Calls:
    """Code of calls, and the namespace of its own in which it runs."""

    def __init__(self, swept: Mapping[str, object]) -> None:
        self._names: Namespace = {}
        self._taken = set(swept)
        self._passed = ", ".join(f"{name}={name}" for name in swept)

    def bind(self, wanted: str, otherwise: str, value: object) -> str:
        """Bind a name to a value; return the one that was wanted, where code can read it."""
        usable = wanted.isidentifier() and not keyword.iskeyword(wanted)
        name = wanted if usable and wanted not in self._taken else otherwise
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self._names[name] = value
        return name

    def bind_arguments(self, values: Sequence[object]) -> list[str]:
        """Bind values; return what stands in a call."""
        return [self.bind(f"arg{i}", f"arg{i}", value) for i, value in enumerate(values)]

    def make_arguments(self, name: str, make: Function) -> tuple[Snippet, list[str]]:
        """Return code that makes arguments of the swept values, and what stands in a call."""

        def made(**values: object) -> tuple[object, ...]:
            arguments = make(**values)
            return arguments if isinstance(arguments, tuple) else (arguments,)

        function = self.bind(name, name, made)
        arguments = self.bind(f"{name}_args", f"{name}_args", ())
        return self.snippet(f"{arguments} = {function}({self._passed})"), [f"*{arguments}"]

    def snippet(self, code: str) -> Snippet:
        """Return code that runs on these names."""
        return Snippet(Source.plain(code), self._names)


def _refuse(functions: object, args: Sequence[object], setup: object, sweep: object) -> None:
    """Refuse what is of another kind, and arguments that come from two places."""
    if not _is(functions, Mapping):
        raise OptionError(
            f"compare takes functions by label, not a {name_of(type(functions))}: write"
            ' compare({"a": f, "b": g}, x)'
        )
    for key in functions if isinstance(functions, Mapping) else ():
        if not isinstance(key, str):
            raise OptionError(
                f"label {key!r}: must be a string, for example compare({{{str(key)!r}: f, ...}})"
            )
    if sweep is not None:
        _refuse_values(sweep)
    if isinstance(setup, Mapping) and isinstance(functions, Mapping):
        for label in setup.keys() - functions.keys():
            labels = ", ".join(functions)
            raise OptionError(f"setup for {label!r}: no such arm; the arms are {labels}")
    elif setup is not None and not callable(setup):
        raise OptionError("setup must be a function that returns the arguments")
    elif setup is not None and args:
        raise OptionError("setup returns the arguments: pass either of them, not both")


def _refuse_values(sweep: object) -> None:
    for name, values in sweep.items() if isinstance(sweep, Mapping) else [("", "")]:
        usable = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
        if not usable or isinstance(values, str) or not _is(values, Iterable):
            raise OptionError('sweep takes names with their values, as in sweep={"n": [100, 300]}')


def _is(value: object, kind: type) -> bool:
    return ask(lambda user_value: isinstance(user_value, kind), value)
