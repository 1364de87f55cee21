"""What dynamo tells while calls are made: programs that it finds, and those that it compiles."""

import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from types import FrameType
from typing import Any


class Heard(AbstractContextManager["Heard"]):
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
        self._last: Any = None
        self._is_open = False
        self._stop: list[Callable[[], object]] = []

    def __enter__(self) -> "Heard":
        self.open()
        return self

    def open(self) -> None:
        """Listen from now on, where dynamo is there: it comes with the first torch.compile."""
        if not self._is_open and "torch._dynamo.eval_frame" in sys.modules:
            self._is_open = True
            self._last = next(reversed(_record()), None)
            self._listen_to_looks()
            self._listen_to_compilations()

    def __exit__(self, *_: object) -> None:
        while self._stop:
            self._stop.pop()()

    def read(self) -> list[tuple[int | None, Any]]:
        """The entries so far; the record itself holds few, so this is called after each call."""
        record = _record()
        if record and record[-1] is not self._last:
            known = [index for index, entry in enumerate(record) if entry is self._last]
            new = record[known[-1] + 1 if known else 0 :]
            told = [entry for entry in new if not getattr(entry, "is_runtime", None)]
            self.entries += [(self._threads.get(str(e.compile_id)), e) for e in told]
            self._last = record[-1]
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

        def started(*told: Any) -> None:  # nothing is told before 2.7
            for each in told:
                where = str(getattr(each, "compile_id", ""))
                self._threads[where] = threading.get_ident()

        starts.append(started)
        self._stop.append(lambda: starts.remove(started) if started in starts else None)


def _record() -> Sequence[Any]:
    """The newest entries of dynamo's record of compilations."""
    utils: Any = sys.modules.get("torch._dynamo.utils")
    read = getattr(utils, "get_compilation_metrics", None)
    return () if read is None else list(read())
