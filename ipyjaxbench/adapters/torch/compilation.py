"""What `torch.compile` tells of its compilations, and one cold call of what it compiled."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import FunctionType
from typing import Any, NamedTuple

import torch

from ipyjaxbench.adapters.torch.compile_events import Record, is_loaded, spell
from ipyjaxbench.frameworks import UNNAMED, ColdCall, Compilation, CompilationWatch, Program
from ipyjaxbench.usercode import attributes

_EMPTIED = "inductor's caches in memory were emptied, those on disk kept"
_FRAME = "_compile.compile_inner"


def is_compiled(value: object) -> bool:
    """Whether `torch.compile` made it, or `Module.compile` changed it in place."""
    held = attributes(value)
    return "_torchdynamo_orig_callable" in held or held.get("_compiled_call_impl") is not None


def original(function: object) -> object | None:
    """What `torch.compile` was given: a function, or a module."""
    held = attributes(function)
    modules = held.get("_modules")
    module: object | None = modules.get("_orig_mod") if type(modules) is dict else None
    return module if module is not None else held.get("_torchdynamo_orig_callable")


class _Compilation(NamedTuple):
    """One entry of dynamo's record, in seconds."""

    name: str
    trace: float
    inner: float
    loaded: bool = False
    frame: bool = True


class DynamoWatch(CompilationWatch):
    """Compilations by dynamo's record; of those it has lost, the times of all frames are left.

    Args:
        functions: those in play that are compiled, for the names of modules.
    """

    def __init__(self, functions: Sequence[object]) -> None:
        modules = [o for f in functions if isinstance(o := original(f), torch.nn.Module)]
        names = {type(module).__name__ for module in modules}
        self._module = names.pop() if len(names) == 1 else "module"
        self._record = Record()
        self._timed = len(_frame_times())
        self._found: list[_Compilation] = []
        self._frames: dict[object, str] = {}

    def __exit__(self, *_: object) -> None:
        """Nothing was registered."""

    def _read(self) -> list[_Compilation]:
        if new := self._record.read():
            found = [self._understood(entry) for entry in new]
            self._found += [*(self._pushed_out(found) if self._record.lost else ()), *found]
            self._timed = len(_frame_times())
        return self._found

    def _pushed_out(self, found: Sequence[_Compilation]) -> list[_Compilation]:
        """Frames that the record has lost already, as their times tell."""
        times = _frame_times()
        times = times[self._timed if self._timed <= len(times) else 0 :]  # emptied by a reset
        frames = [c for c in found if c.frame]
        missing = len(times) - len(frames)
        seconds = max(sum(times) - sum(c.trace + c.inner for c in frames), 0.0)
        return [_Compilation(UNNAMED, 0.0, seconds / missing) for _ in range(missing)]

    def _understood(self, entry: Any) -> _Compilation:
        """An entry's times lie inside of each other: frame, backend, inductor."""
        frame, backend, inductor, backward = (
            getattr(entry, name, None)
            for name in (
                "entire_frame_compile_time_s",
                "backend_compile_time_s",
                "inductor_compile_time_s",
                "backward_cumulative_compile_time_us",
            )
        )
        total = frame or (backward or 0) * 1e-6
        inner = min(inductor or backend or 0.0, total)  # other backends are told as a whole
        return _Compilation(
            self._name_of(entry), total - inner, inner, is_loaded(entry), backward is None
        )

    def _name_of(self, entry: Any) -> str:
        name, where = getattr(entry, "co_name", None), getattr(entry, "compile_id", None)
        if name is None:  # the backward pass of a frame, compiled when it is first run
            return f"{self._frames.get(where, UNNAMED)} backward".removeprefix(f"{UNNAMED} ")
        file = str(getattr(entry, "co_filename", ""))
        if file.startswith(str(torch.__path__[0])):  # a module is called through PyTorch's own code
            name = self._module
        self._frames[where] = spelled = spell(str(name))
        return spelled

    def compilations(self) -> int:
        """As many as there are programs."""
        return len(self._read())

    def programs(self) -> list[Program]:
        """In the order in which they were made."""
        return [
            Program(c.name, c.inner or c.trace, "disk cache" if c.loaded else "compiled", "torch")
            for c in self._read()
        ]

    def phases(self) -> dict[str, float | None]:
        """Dynamo's part and the backend's."""
        found = self._read()
        spent = {
            "trace": sum(c.trace for c in found),
            "compile": sum(c.inner for c in found if not c.loaded),
            "cache load": sum(c.inner for c in found if c.loaded),
        }
        return {phase: seconds for phase, seconds in spent.items() if seconds > 0}


def _frame_times() -> list[float]:
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return [] if utils is None else list(utils.compilation_time_metrics.get(_FRAME, ()))


@contextmanager
def cold_call(named: Mapping[str, object], unnamed: Sequence[object]) -> Iterator[ColdCall]:
    """The same functions under code objects of their own, for which nothing is compiled yet.

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
    told = [f"{name} stayed compiled" for name in dict.fromkeys(unchanged)]
    error: BaseException | None = None
    with ExitStack() as stack:
        if inductor:
            stack.enter_context(_empty_cache())
            told.append(_EMPTIED)
        try:
            yield ColdCall(stand_ins, told)
        # Left by an error, inductor's own context would leave its folder behind and log it.
        except BaseException as raised:  # noqa: BLE001
            error = raised
    if error is not None:
        raise error


def _context(function: object) -> Callable[[object], object] | None:
    """What wrapped the function, which holds its backend and all options; None where unknown."""
    held = attributes(function)
    if "dynamo_ctx" in held:
        found = held["dynamo_ctx"]
    elif isinstance(function, FunctionType):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found = next((cell.cell_contents for name, cell in cells if name == "self"), None)
    else:
        return None
    return found if callable(found) and "callback" in attributes(found) else None


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
    found = original(function) or function
    return str(getattr(found, "__name__", type(found).__name__))


def _empty_cache() -> Any:
    """Inductor's disk cache in an empty folder for a while, by its own context."""
    from torch._inductor import utils

    return (getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache)()


class TorchCompilation(Compilation):
    """`torch.compile`."""

    builders = ((torch.compile, ""),)
    reads_code = True

    def compiles(self, value: object) -> bool:
        """The results of `torch.compile`, and modules compiled in place."""
        return is_compiled(value)

    def original(self, function: object) -> object | None:
        """What `torch.compile` was given."""
        return original(function) if is_compiled(function) else None

    def watch(self, functions: Sequence[object]) -> DynamoWatch:
        """Read dynamo's own record of compilations."""
        return DynamoWatch([f for f in functions if is_compiled(f)])

    def cold_call(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[ColdCall] | None:
        """The same functions compiled anew, with an empty disk cache."""
        return cold_call(named, unnamed) if named or unnamed else None
