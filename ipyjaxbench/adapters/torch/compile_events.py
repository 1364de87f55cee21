"""What dynamo tells while calls are made: programs that it finds, and those that it compiles."""

import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import FrameType
from typing import Any

_MOST_ENTRIES = 64
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
_HITS = (
    "inductor_fx_local_cache_hit_count",
    "inductor_fx_remote_cache_hit_count",
    "aotautograd_local_cache_hit_count",
    "aotautograd_remote_cache_hit_count",
)
_MISSES = ("inductor_fx_local_cache_miss_count", "inductor_fx_remote_cache_miss_count")


class Record:
    """Dynamo's own record of compilations, which is read and never emptied.

    Dynamo is loaded by the first `torch.compile`: until then there is nothing to read. The record
    holds the newest 64, so it is read often.

    Attributes:
        lost: whether entries before those that were read last may have been pushed out.
    """

    def __init__(self) -> None:
        self.lost = False
        self._last = next(reversed(_entries()), None)

    def read(self) -> list[Any]:
        """Return the entries that came since the last time, or since this was made."""
        every = _entries()
        if not every or every[-1] is self._last:
            return []
        known = [index for index, entry in enumerate(every) if entry is self._last]
        new = every[known[-1] + 1 if known else 0 :]
        self.lost = not known and len(new) >= _MOST_ENTRIES
        self._last = every[-1]
        return [entry for entry in new if not getattr(entry, "is_runtime", None)]


def _entries() -> list[Any]:
    utils: Any = sys.modules.get("torch._dynamo.utils")
    read = getattr(utils, "get_compilation_metrics", None)
    return [] if read is None else list(read())


def is_loaded(entry: Any) -> bool:
    """Whether the program of an entry came from the disk cache."""
    is_missed = any(getattr(entry, name, None) for name in _MISSES)
    return not is_missed and any(getattr(entry, name, None) for name in _HITS)


def resumed(name: str) -> tuple[str, str] | None:
    """The function and the line whose rest, behind a graph break, goes by a name; None if none."""
    found = _RESUMED.fullmatch(name)
    return (found[1], found[2]) if found else None


def spell(name: str) -> str:
    """Return the name of a frame as the user would say it."""
    rest = resumed(name)
    return "{} from line {}".format(*rest) if rest else name


class DynamoEvents(AbstractContextManager["DynamoEvents"]):
    """Listens while the context is open; all of it is private, and found missing where it is.

    Args:
        missed: is told the frame that calls, when no program is there and before one is made.

    Attributes:
        looks: for programs of frames that have some, by thread, and whether each found one; None
            where PyTorch does not tell of them (before 2.8).
        entries: of dynamo's record, with the thread of each; None where that is not known.
    """

    def __init__(self, missed: Callable[[FrameType], None]) -> None:
        self.looks: defaultdict[int, list[bool]] | None = None
        self.entries: list[tuple[int | None, Any]] = []
        self._missed = missed
        self._hook: Any = None
        self._threads: dict[str, int] = {}
        self._record: Record | None = None
        self._is_open = False
        self._stop: list[Callable[[], object]] = []

    def __enter__(self) -> "DynamoEvents":
        self.open()
        return self

    def open(self) -> None:
        """Listen from now on, where dynamo is there: it comes with the first torch.compile."""
        if not self._is_open and "torch._dynamo.eval_frame" in sys.modules:
            self._is_open = True
            self._record = Record()
            self._listen_to_looks()
            self._listen_to_compilations()

    def __exit__(self, *_: object) -> None:
        while self._stop:
            self._stop.pop()()

    def read(self) -> list[tuple[int | None, Any]]:
        """The entries so far; the record itself holds few, so this is called after each call."""
        new = self._record.read() if self._record is not None else []
        self.entries += [(self._threads.get(str(e.compile_id)), e) for e in new]
        return self.entries

    def _listen_to_looks(self) -> None:
        from torch._C._dynamo import eval_frame

        install = getattr(eval_frame, "set_guard_complete_hook", None)
        if install is None:
            return
        looks = self.looks = defaultdict[int, list[bool]](list)
        thread, missed, earlier = threading.get_ident, self._missed, None

        def hook(hit: bool) -> bool:  # noqa: FBT001
            looks[thread()].append(hit)
            if not hit:
                with suppress(Exception):  # what is raised here would stop the user's call
                    missed(sys._getframe(1))
            # Dynamo goes by what this returns.
            return hit if earlier is None else bool(earlier(hit))

        earlier = install(hook)
        self._stop.append(lambda: install(earlier))

    def _listen_to_compilations(self) -> None:
        from torch._dynamo import callback

        handler = getattr(callback, "callback_handler", None)
        starts = getattr(handler, "start_callbacks", None)
        if not isinstance(starts, list):
            return

        def on_start(*told: Any) -> None:  # nothing is told before 2.7
            for each in told:
                where = str(getattr(each, "compile_id", ""))
                self._threads[where] = threading.get_ident()

        starts.append(on_start)
        self._stop.append(lambda: starts.remove(on_start) if on_start in starts else None)
