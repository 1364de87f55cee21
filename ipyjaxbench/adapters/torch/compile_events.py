"""What dynamo reports while calls are made: programs that it finds, and those it compiles."""

import re
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from types import FrameType, FunctionType
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS

_MAX_ENTRIES = 64  # of the record
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
_HITS = (
    "inductor_fx_local_cache_hit_count",
    "inductor_fx_remote_cache_hit_count",
    "aotautograd_local_cache_hit_count",
    "aotautograd_remote_cache_hit_count",
)
#: Says with what a call is compiled in the stance of now.
_ASKED_FIRST = "_callback_from_stance"
_PARTS = ("dynamo", "aot_autograd", "inductor", "backward")
_MISSES = ("inductor_fx_local_cache_miss_count", "inductor_fx_remote_cache_miss_count")


class Record:
    """Dynamo's own record of compilations, which is read and never emptied.

    Dynamo is loaded by the first `torch.compile`: until then there is nothing to read. The record
    holds the newest 64, so it is read often.
    """

    def __init__(self) -> None:
        self.is_lossy = False  # whether entries may have been pushed out before they were read
        self._last = next(reversed(recorded()), None)

    def read(self) -> list[Any]:
        """Return the entries that came since the last time, or since this was made."""
        entries = recorded()
        if not entries or entries[-1] is self._last:
            return []
        known = [index for index, entry in enumerate(entries) if entry is self._last]
        new = entries[known[-1] + 1 if known else 0 :]
        self.is_lossy = not known and len(new) >= _MAX_ENTRIES
        self._last = entries[-1]
        return [entry for entry in new if not getattr(entry, "is_runtime", None)]


def recorded() -> list[Any]:
    """Return dynamo's own record of compilations, the newest last."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    read = getattr(utils, "get_compilation_metrics", None)
    return [] if read is None else list(read())


def is_loaded(entry: Any) -> bool:
    """Whether the program of an entry came from the disk cache."""
    is_missed = any(getattr(entry, name, None) for name in _MISSES)
    return not is_missed and any(getattr(entry, name, None) for name in _HITS)


class Times(NamedTuple):
    """Seconds of a compilation: of a frame, in that its backend, in that inductor.

    A backward pass is compiled when it is first run, and has no frame.
    """

    frame: float
    backend: float
    inductor: float
    backward: float = 0.0

    @classmethod
    def from_entry(cls, entry: Any) -> "Times":
        """Read those of an entry of dynamo's record."""
        columns = (f"{part}_cumulative_compile_time_us" for part in _PARTS)
        return cls(*((getattr(entry, name, None) or 0) * 1e-6 for name in columns))

    def phases(self, *, loaded: bool = False) -> dict[str, float]:
        """Return the seconds of each phase; `loaded` says that the disk cache had the program."""
        backend = min(max(self.backend, 0.0), self.frame)
        inductor = min(max(self.inductor, 0.0), backend)
        compiling = inductor + (0.0 if self.frame else self.backward)
        return {
            "trace": self.frame - backend,
            "lower": 0.0 if loaded else backend - inductor,
            "compile": 0.0 if loaded else compiling,
            "cache load": backend if loaded else 0.0,
        }


def phases_of(entries: Iterable[Any]) -> dict[str, float]:
    """Return the seconds of each phase that happened in entries of dynamo's record."""
    spent = Counter[str]()
    for entry in entries:
        spent.update(Times.from_entry(entry).phases(loaded=is_loaded(entry)))
    return {phase: seconds for phase, seconds in spent.items() if seconds > 0}


def times_of(part: str) -> list[float]:
    """Return dynamo's own list of seconds that a part of it took, such as each frame."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return list(getattr(utils, "compilation_time_metrics", {}).get(part, ()))


def resumed(name: str) -> tuple[str, str] | None:
    """Return the function and the line whose rest, after a graph break, has this name, if any."""
    match = _RESUMED.fullmatch(name)
    return (match[1], match[2]) if match else None


def spell(name: str) -> str:
    """Return the name of a frame as the user would say it."""
    rest = resumed(name)
    return "{} from line {}".format(*rest) if rest else name


class Entry(NamedTuple):
    """An entry of dynamo's record, and the thread that compiled; None where it is not known."""

    thread: int | None
    metrics: Any


class DynamoEvents(AbstractContextManager["DynamoEvents"]):
    """Listens while the context is open; all of it is private, and may be missing."""

    def __init__(
        self,
        on_miss: Callable[[FrameType], None],
        on_hit: Callable[[FrameType], None],
        on_start: Callable[[FrameType], None],
        on_begin: Callable[[FrameType], None],
    ) -> None:
        #: Of each thread, whether its searches found a program; None before PyTorch 2.8.
        self.hits: defaultdict[int, list[bool]] | None = None
        self.entries: list[Entry] = []
        self._on_miss = on_miss  # gets the frame that calls, before a program is made
        self._on_hit = on_hit  # gets it where there is one
        self._on_start = on_start  # gets a frame of dynamo's, before a program is made
        self._on_begin = on_begin  # gets the frame of a call, before anything is searched
        self._threads: dict[str, int] = {}
        self._record: Record | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "DynamoEvents":
        self.open()
        return self

    def open(self) -> None:
        """Listen from now on, where dynamo is loaded: the first torch.compile does that."""
        if self._record is None and "torch._dynamo.eval_frame" in sys.modules:
            self._record = Record()
            self._listen_to_searches()
            self._listen_to_compilations()
            self._listen_to_calls()

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self) -> list[Entry]:
        """Return the entries so far; the record holds few, so this is called after each call."""
        new = self._record.read() if self._record is not None else []
        self.entries += [Entry(self._threads.get(str(e.compile_id)), e) for e in new]
        return self.entries

    def _listen_to_searches(self) -> None:
        from torch._C._dynamo import eval_frame

        install = getattr(eval_frame, "set_guard_complete_hook", None)
        if install is None:
            return
        hits = self.hits = defaultdict[int, list[bool]](list)
        thread, on_miss, on_hit, earlier = threading.get_ident, self._on_miss, self._on_hit, None

        def hook(hit: bool) -> bool:  # noqa: FBT001
            hits[thread()].append(hit)
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                (on_hit if hit else on_miss)(sys._getframe(1))
            # Dynamo goes by what this returns.
            return hit if earlier is None else bool(earlier(hit))

        earlier = install(hook)
        self._stack.callback(install, earlier)

    def _listen_to_compilations(self) -> None:
        from torch._dynamo import callback

        handler = getattr(callback, "callback_handler", None)
        starts = getattr(handler, "start_callbacks", None)
        if not isinstance(starts, list):
            return

        def on_start(*events: Any) -> None:  # none is given before 2.7
            for event in events:
                self._threads[str(getattr(event, "compile_id", ""))] = threading.get_ident()
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                self._on_start(sys._getframe(1))

        starts.append(on_start)
        self._stack.callback(lambda: starts.remove(on_start) if on_start in starts else None)

    def _listen_to_calls(self) -> None:
        """Put a function around one that each call of a compiled function asks first."""
        module: Any = sys.modules["torch._dynamo.eval_frame"]
        asked, on_begin = getattr(module, _ASKED_FIRST, None), self._on_begin
        if type(asked) is not FunctionType:
            return

        def ask(*args: Any) -> Any:
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                on_begin(sys._getframe(1))
            return asked(*args)

        def put_back() -> None:
            if getattr(module, _ASKED_FIRST, None) is ask:
                setattr(module, _ASKED_FIRST, asked)

        setattr(module, _ASKED_FIRST, ask)
        self._stack.callback(put_back)
