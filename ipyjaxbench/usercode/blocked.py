"""Gives up a call that waits for what only another one brings, as a second ``lock.acquire()``."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType

from ipyjaxbench.usercode.frames import current_frames
from ipyjaxbench.usercode.patience import StuckError
from ipyjaxbench.usercode.side_effects import has_side_effects

_LOOKS = 10  # at a call, before it is given up
_IDLE_SHARE = 0.1  # of the time between two looks: by less the process works on nothing
_WAITS = frozenset((
    "acquire", "get", "put", "wait", "wait_for", "join", "result", "recv", "recv_bytes", "accept",
    "read", "readline", "select", "input", "sleep", "__enter__", "sem_wait", "flock", "lockf",
    "send", "sendall", "sendmsg", "sendto", "send_bytes",  # where nobody receives
))  # fmt: skip


def may_block(codes: Iterable[CodeType]) -> bool:
    """Whether code, or a function in it, names something that waits."""
    return has_side_effects(codes, _WAITS)


@contextmanager
def give_up_blocked(
    seconds: float, count: Callable[[], int], spent: Callable[[], int]
) -> Iterator[None]:
    """Raise where the main thread stands still in one place, as does the process.

    Args:
        seconds: for which it may.
        count: tells how many calls were begun.
        spent: nanoseconds of CPUs that the process has used.

    Raises:
        StuckError: it did for so many seconds.
    """
    if not _can_interrupt():
        yield
        return
    main, ready, ended, given_up = threading.get_ident(), *(threading.Event() for _ in range(3))
    interval = seconds / _LOOKS

    def watch() -> None:
        place, used, unchanged = None, spent(), 0
        ready.set()
        while not ended.wait(interval):
            frame, before = current_frames().get(main), (place, used)
            place, used = (count(), id(frame), frame and frame.f_lasti), spent()
            del frame
            is_idle = used - before[1] < _IDLE_SHARE * interval * 1e9
            unchanged = unchanged + 1 if is_idle and place == before[0] else 0
            if unchanged == _LOOKS:
                given_up.set()
                signal.pthread_kill(main, signal.SIGINT)  # it ends a wait for a lock as well
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        ready.wait()  # it would take a part of the first call's time to begin
        yield
    except KeyboardInterrupt:
        if not given_up.is_set():
            raise
        raise StuckError(seconds) from None
    finally:
        ended.set()
        watching.join()


def _can_interrupt() -> bool:
    """Whether this is the main thread, and a signal raises in it."""
    return (
        threading.current_thread() is threading.main_thread()
        and hasattr(signal, "pthread_kill")
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
