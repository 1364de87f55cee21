"""Whether a process still runs that was seen before, though its number may be in use again."""

import os
import platform

from ipyjaxbench.host import procfs


def process_space() -> str:
    """Return where the numbers of processes mean the same: the host, and on Linux its namespace.

    Containers may have the name of their host, and numbers of their own.
    """
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return platform.node()
    return f"{platform.node()} {namespace}"


def process_start(pid: int) -> float | None:
    """Return when a process began, by a clock of the system's; None where it is over.

    Example:
        >>> process_start(os.getpid()) == process_start(os.getpid()) != None
        True
    """
    if procfs.is_mounted(procfs.ROOT):
        return procfs.process_start(procfs.ROOT, pid)
    import psutil

    try:
        process = psutil.Process(pid)
        is_over = process.status() == psutil.STATUS_ZOMBIE
        return None if is_over else float(process.create_time())
    except (psutil.Error, OverflowError, ValueError):
        return None
