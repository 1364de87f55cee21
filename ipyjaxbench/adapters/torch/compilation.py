"""What `torch.compile` compiles, and one cold call of that."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import FunctionType
from typing import Any, Literal, NamedTuple

import torch

from ipyjaxbench.adapters.torch.compile_counters import (
    AUTOTUNED,
    BYPASS,
    FAILED_WRITES,
    MISS,
    Counters,
    how_to_turn_on,
)
from ipyjaxbench.adapters.torch.compile_events import Record, Times, is_loaded, spell, times_of
from ipyjaxbench.adapters.torch.disk_cache import GraphSearches, cold_searches
from ipyjaxbench.frameworks import (
    UNNAMED,
    Autotuned,
    CacheUse,
    ColdCall,
    Compilation,
    CompilationWatch,
    DiskMiss,
    Program,
)
from ipyjaxbench.usercode import attributes, closure_values

_EMPTIED = "Inductor's in-memory caches were cleared, those on disk kept"
_FRAME = "_compile.compile_inner"
_Origin = Literal["compiled", "disk cache"]


def is_compiled(value: object) -> bool:
    """Whether `torch.compile` made it, or `Module.compile` changed it in place."""
    own = attributes(value)
    return "_torchdynamo_orig_callable" in own or own.get("_compiled_call_impl") is not None


def original(function: object) -> object | None:
    """Return what `torch.compile` was given: a function, or a module."""
    own = attributes(function)
    modules = own.get("_modules")
    module: object | None = modules.get("_orig_mod") if type(modules) is dict else None
    return module if module is not None else own.get("_torchdynamo_orig_callable")


def takes_whole(function: object) -> bool:
    """Whether a function was compiled with ``fullgraph=True``, as far as its context tells."""
    own = attributes(function)
    wrapper = own.get("_compiled_call_impl") or function
    context = own.get("dynamo_ctx")
    if context is None and type(wrapper) is FunctionType:
        context = dict(closure_values(wrapper)).get("self")
    return attributes(context).get("fullgraph") is True


class _Compilation(NamedTuple):
    """One entry of dynamo's record: seconds of dynamo's own part and of the backend's."""

    name: str
    trace: float
    inner: float
    origin: _Origin = "compiled"
    is_frame: bool = True
    number: object = None  # dynamo's, of the compilation
    inductor: float = 0.0  # seconds of Inductor's among those of the backend


class DynamoWatch(CompilationWatch):
    """Counts compilations by dynamo's record; of those it has lost, only times are left."""

    def __init__(self, functions: Sequence[object]) -> None:
        modules = [o for f in functions if isinstance(o := original(f), torch.nn.Module)]
        names = {type(module).__name__ for module in modules}
        self._module = names.pop() if len(names) == 1 else "module"
        self._record, self._counters = Record(), Counters()
        self._frame_count = len(times_of(_FRAME))
        self._compilations: list[_Compilation] = []
        self._names: dict[object, str] = {}
        self._searches = GraphSearches()
        self._misses: dict[object, DiskMiss | None] = {}

    def __enter__(self) -> "DynamoWatch":
        self._searches.open()
        return self

    def __exit__(self, *error: object) -> None:
        self._searches.__exit__(*error)

    def _read(self) -> list[_Compilation]:
        if entries := self._record.read():
            new = [self._compilation(entry) for entry in entries]
            self._compilations += [*(self._lost(new) if self._record.is_lossy else ()), *new]
            self._frame_count = len(times_of(_FRAME))
        return self._compilations

    def _lost(self, new: Sequence[_Compilation]) -> list[_Compilation]:
        """Return the frames that are in the record no more, by their times."""
        times, start = times_of(_FRAME), self._frame_count
        times = times[start if start <= len(times) else 0 :]  # emptied by a reset
        frames = [c for c in new if c.is_frame]
        missing = len(times) - len(frames)
        seconds = max(sum(times) - sum(c.trace + c.inner for c in frames), 0.0)
        return [_Compilation(UNNAMED, 0.0, seconds / missing) for _ in range(missing)]

    def _compilation(self, entry: Any) -> _Compilation:
        times = Times.from_entry(entry)
        total = times.frame or times.backward
        inner = min(times.inductor or times.backend, total)  # other backends have one time in all
        is_frame = getattr(entry, "backward_cumulative_compile_time_us", None) is None
        origin: _Origin = "disk cache" if is_loaded(entry) else "compiled"
        number = getattr(entry, "compile_id", None)
        name, inductor = self._name_of(entry), min(times.inductor, inner)
        return _Compilation(name, total - inner, inner, origin, is_frame, number, inductor)

    def _name_of(self, entry: Any) -> str:
        name, where = getattr(entry, "co_name", None), getattr(entry, "compile_id", None)
        if name is None:  # the backward pass of a frame, compiled when it is first run
            return f"{self._names.get(where, UNNAMED)} backward".removeprefix(f"{UNNAMED} ")
        file = str(getattr(entry, "co_filename", ""))
        if file.startswith(str(torch.__path__[0])):  # a module is called through PyTorch's own code
            name = self._module
        self._names[where] = spelled = spell(str(name))
        return spelled

    def compilations(self) -> int:
        """Count the programs."""
        return len(self._read())

    def programs(self) -> list[Program]:
        """Return them in the order in which they were made."""
        return [
            Program(c.name, c.inner or c.trace, c.origin, "torch", self._disk_miss(c))
            for c in self._read()
        ]

    def _disk_miss(self, compilation: _Compilation) -> DiskMiss | None:
        """Return why the disk cache did not have it; asked for once, and kept."""
        number, name = compilation.number, compilation.name
        if number is not None and number not in self._misses:
            self._misses[number] = next(iter(self._searches.misses(number, name)), None)
        return self._misses.get(number)

    def cache_uses(self) -> tuple[CacheUse, ...]:
        """Return what Inductor's cache of graphs makes of what it compiled, by its counters."""
        seconds = sum(c.inductor for c in self._read() if c.origin == "compiled")
        turn_on, since = how_to_turn_on(), self._counters.since
        if not seconds or turn_on is None:
            return ()
        if turn_on:
            return (CacheUse("torch", "off", seconds, turn_on),)
        if since(BYPASS):
            reason = "Inductor's cache cannot hold such a graph"
            return (CacheUse("torch", "not kept", seconds, reason),)
        if any(map(since, FAILED_WRITES)):
            return (CacheUse("torch", "not kept", seconds, "its entry could not be written"),)
        return (CacheUse("torch", "kept", seconds),) if since(MISS) else ()

    def autotuned(self) -> tuple[Autotuned, ...]:
        """Return for how many operations Inductor ran candidates."""
        number = self._counters.since(AUTOTUNED)
        return (Autotuned("torch", number),) if number else ()

    def phases(self) -> dict[str, float | None]:
        """Return the seconds of dynamo's part and of the backend's."""
        spent = dict.fromkeys(("trace", "compile", "cache load"), 0.0)
        for c in self._read():
            spent["trace"] += c.trace
            spent["compile" if c.origin == "compiled" else "cache load"] += c.inner
        return {phase: seconds for phase, seconds in spent.items() if seconds > 0}


@contextmanager
def cold_call(named: Mapping[str, object], unnamed: Sequence[object]) -> Iterator[ColdCall]:
    """Give the same functions code objects of their own, for which nothing is compiled yet.

    Dynamo keeps what it compiled, and counts recompilations, with the code object, so those of the
    user's are not touched. `torch._dynamo.reset` would take all of them away.
    """
    stand_ins: dict[str, object] = {}
    inside = {id(part) for function in named.values() for part in attributes(function).values()}
    unchanged = [_name(function) for function in unnamed if id(function) not in inside]
    inductor = False
    for name, function in named.items():
        context = _context(function)
        if context is None:
            unchanged.append(name)
            continue
        stand_ins[name] = context(_same_with_new_code(original(function)))
        inductor |= getattr(context, "compiler_config", None) is not None
    caveats = [f"{name} stayed compiled" for name in dict.fromkeys(unchanged)]
    error: BaseException | None = None
    with ExitStack() as stack:
        if inductor:
            stack.enter_context(cold_searches())
            stack.enter_context(_empty_cache())
            caveats.append(_EMPTIED)
        try:
            yield ColdCall(stand_ins, caveats)
        # Left by an error, inductor's own context would leave its folder behind and log it.
        except BaseException as raised:  # noqa: BLE001
            error = raised
    if error is not None:
        raise error


def _context(function: object) -> Callable[[object], object] | None:
    """Return what wrapped the function, with its backend and all options; None if unknown."""
    context = attributes(function).get("dynamo_ctx")
    if context is None and isinstance(function, FunctionType):
        context = dict(closure_values(function)).get("self")
    return context if callable(context) and "callback" in attributes(context) else None


def _same_with_new_code(function: Any) -> FunctionType:
    if isinstance(function, FunctionType):
        code = function.__code__.replace()
        copy = FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__dict__.update(function.__dict__)
        return copy

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_name=_name(function))
    return call  # type: ignore[return-value]


def _name(function: object) -> str:
    function = original(function) or function
    return str(getattr(function, "__name__", type(function).__name__))


def _empty_cache() -> Any:
    """Return inductor's own context that has its disk cache in an empty folder."""
    from torch._inductor import utils

    return (getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache)()


class TorchCompilation(Compilation):
    """`torch.compile`."""

    builders = ((torch.compile, ""),)
    reads_code = True

    def compiles(self, value: object) -> bool:
        """Whether it is the result of `torch.compile`, or a module compiled in place."""
        return is_compiled(value)

    def original(self, function: object) -> object | None:
        """Return what `torch.compile` was given."""
        return original(function) if is_compiled(function) else None

    def watch(self, functions: Sequence[object]) -> DynamoWatch:
        """Read dynamo's own record of compilations."""
        return DynamoWatch([f for f in functions if is_compiled(f)])

    def cold_call(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[ColdCall] | None:
        """Compile the same functions anew, with an empty disk cache."""
        return cold_call(named, unnamed) if named or unnamed else None
