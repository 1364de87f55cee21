"""What was sent through sockets, pipes and open descriptors, and waits there: none is taken out."""

import array
import os
import socket
import stat
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ipyjaxbench.frameworks.state.undo import Setting, State

_MOST_BYTES = 16 * 2**20  # of a file that is read
_IN, _OUT = "FIONREAD", "TIOCOUTQ"
_TCP_INFO_BYTES, _SENT, _RECEIVED = 136, 120, 128  # of Linux's `struct tcp_info`


def amounts(descriptor: int) -> list[int]:
    """Return where a file is, and how long; of a pipe or a socket, how many bytes wait in it."""
    with suppress(OSError):
        return [os.lseek(descriptor, 0, os.SEEK_CUR), os.fstat(descriptor).st_size]
    try:
        it = socket.socket(fileno=descriptor)
    except OSError:
        return _waiting(descriptor)
    try:
        return _exchanged(it) if _is_of_tcp(it) else _waiting(descriptor)
    finally:
        it.detach()


def written(descriptor: int) -> list[int]:
    """Return what tells the content of an open file, or when it was written; [] for other ones."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return []
        if status.st_size <= _MOST_BYTES and hasattr(os, "pread"):
            with suppress(OSError):  # it cannot be read
                return [zlib.crc32(os.pread(descriptor, status.st_size, 0))]
        return [status.st_mtime_ns]
    except OSError:  # it was closed
        return []


def socket_state(it: Any) -> State | None:
    """Return what shows that one was written or read; None where nothing does, as with UDP."""
    if it.family == getattr(socket, "AF_UNIX", None):
        return _shown(lambda: _waiting(it.fileno()))
    return _shown(lambda: _exchanged(it)) if _is_of_tcp(it) else None


def connection_state(it: Any) -> State:
    """Return what shows that a connection of `multiprocessing` was written or read."""
    return _shown(lambda: _waiting(it.fileno()))


def _is_of_tcp(it: socket.socket) -> bool:
    is_internet = it.family in (socket.AF_INET, socket.AF_INET6)
    return is_internet and it.type == socket.SOCK_STREAM and hasattr(socket, "TCP_INFO")


def _shown(read: Callable[[], list[int]]) -> Setting:
    def ask() -> list[int]:
        try:
            return read()
        except (OSError, ValueError):  # it was closed
            return []

    return Setting(ask, None)


def _waiting(descriptor: int) -> list[int]:
    """Return how many bytes can be read, and how many nobody has read yet."""
    try:
        import fcntl  # not on Windows
        import termios
    except ImportError:
        return []
    found = []
    for name in (_IN, _OUT):
        amount = array.array("i", [0])
        with suppress(OSError):  # a pipe has but the first
            fcntl.ioctl(descriptor, getattr(termios, name), amount)
            found.append(amount[0])
    return found


def _exchanged(it: socket.socket) -> list[int]:
    """Return how many bytes were sent and received by TCP, and how many of these wait."""
    told = it.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    waiting = _waiting(it.fileno())
    if len(told) < _TCP_INFO_BYTES:
        return waiting
    sent, received = (int.from_bytes(told[at : at + 8], "little") for at in (_SENT, _RECEIVED))
    return [sent + sum(waiting[1:]), received, *waiting[:1]]
