"""What Linux says in files: CPU pressure, run queues, quotas, and CPU time of all programs.

Every function takes the root of the file tree and gives counters since some past moment; None
where this kernel, container or system has none.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/")  # of the file tree
# At most 18 digits: more is garbage, and would not fit into a float.
_PRESSURE = re.compile(r"^some .*\btotal=(\d{1,18})$", re.MULTILINE)
_CPU_TIMES = re.compile(r"^cpu +(\d{1,18}(?: +\d{1,18}){2,15}) *$", re.MULTILINE)
_SCHEDSTAT = re.compile(rb"(\d{1,18}) (\d{1,18}) \d+\s*")
_THROTTLES = re.compile(r"^nr_throttled (\d{1,18})$", re.MULTILINE)
_THROTTLED = re.compile(r"^throttled_(usec|time) (\d{1,18})$", re.MULTILINE)
_CPU_MAX = re.compile(r"(\d{1,18}) (\d{1,18})\s*")
_CPU_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
_NO_LIMIT = 1 << 60  # what version 1 has for "as much as there is" is a little below 2**63
_MEMORY = re.compile(r"^MemTotal:\s*(\d{1,18}) kB$", re.MULTILINE)
_HIGHEST = re.compile(r"^VmHWM:\s*(\d{1,18}) kB$", re.MULTILINE)
_CACHE = re.compile(r"(\d{1,9})([KMG]?)\s*")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_STEAL = 7  # its column in /proc/stat
_START = 18  # in /proc/PID/stat, behind the state


class CpuTimes(NamedTuple):
    """Seconds over all CPUs since the machine started.

    Attributes:
        busy: all programs, in user and system mode.
        steal: taken by the hypervisor; None where it is not known.
    """

    busy: float
    steal: float | None


class Throttling(NamedTuple):
    """What CPU quotas of this process's control groups did.

    Attributes:
        times: how often it was stopped.
        seconds: for how long, over all CPUs.
    """

    times: int
    seconds: float


def pressure(root: Path) -> float | None:
    """Return the seconds in which some program of the machine waited for a CPU ("some" of PSI)."""
    total = _PRESSURE.search(_text(root / "proc/pressure/cpu"))
    return int(total[1]) * 1e-6 if total else None


def cpu_times(root: Path) -> CpuTimes | None:
    """Return the CPU time of all programs."""
    line = _CPU_TIMES.search(_text(root / "proc/stat"))
    if line is None:
        return None
    tick = 1 / os.sysconf("SC_CLK_TCK")
    columns = [int(column) * tick for column in line[1].split()]
    steal = columns[_STEAL] if len(columns) > _STEAL else None
    return CpuTimes(sum(columns[:3]), steal)


def waits(root: Path) -> dict[str, float] | None:
    """Return the seconds that each thread of this process was ready to run and waited for a CPU."""
    folder = f"{root}/proc/self/task"
    try:
        threads = os.listdir(folder)
    except OSError:
        return None
    told = {thread: _schedstat(f"{folder}/{thread}/schedstat") for thread in threads}
    waited = {thread: times[1] * 1e-9 for thread, times in told.items() if times}
    ran = any(times[0] for times in told.values() if times)
    return waited if ran else None  # a kernel that does not count shows zeros


def run_delay(root: Path = ROOT) -> int:
    """Return the nanoseconds that this thread was ready to run and waited for a CPU; 0 if unknown.

    A thread that waits for another one is not ready to run.
    """
    times = _schedstat(f"{root}/proc/thread-self/schedstat")
    return times[1] if times else 0


def _schedstat(path: str) -> tuple[int, int] | None:
    """Return the nanoseconds that a thread ran and waited; None where it has just ended."""
    # There may be hundreds of threads: this way of reading takes less than half of the time.
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        numbers = _SCHEDSTAT.fullmatch(os.read(file, 100))
    except OSError:
        return None
    finally:
        os.close(file)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def throttling(root: Path) -> Throttling | None:
    """Return how the CPU quotas of this process's groups, and of those around them, stopped it."""
    times, seconds, is_known = 0, 0.0, False
    for folder in _groups(root):
        stat = _text(folder / "cpu.stat")
        if match := _THROTTLES.search(stat):
            is_known = True
            times += int(match[1])
        if match := _THROTTLED.search(stat):
            seconds += int(match[2]) * (1e-6 if match[1] == "usec" else 1e-9)
    return Throttling(times, seconds) if is_known else None


def quota(root: Path) -> float | None:
    """Return how many CPUs the tightest quota allows, such as 1.5; None where there is no quota."""
    limits = []
    for folder in _groups(root):
        text = _text(folder / "cpu.max") or " ".join(
            _text(folder / f"cpu.cfs_{part}_us").strip() for part in ("quota", "period")
        )
        match = _CPU_MAX.fullmatch(text)
        if match and int(match[2]):
            limits.append(int(match[1]) / int(match[2]))
    return min(limits, default=None)


def cpu_model(root: Path) -> str | None:
    """Return what the CPU calls itself; None on Arm."""
    match = _CPU_MODEL.search(_text(root / "proc/cpuinfo"))
    return match[1].strip() if match else None


def largest_cache(root: Path = ROOT) -> int | None:
    """Return the bytes of the first CPU's largest cache."""
    return max((nbytes for _, nbytes in _caches(root)), default=None)


def core_cache(root: Path = ROOT) -> int | None:
    """Return the bytes of the first CPU's largest cache before the last level, its core's own."""
    caches = [*_caches(root)]
    last = max((level for level, _ in caches), default=0)
    return max((nbytes for level, nbytes in caches if level < last), default=None)


def _caches(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the level and the bytes of each cache of the first CPU."""
    for folder in (root / "sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, size = _text(folder / "level").strip(), _CACHE.fullmatch(_text(folder / "size"))
        if size:
            yield int(level) if level.isdecimal() else 0, int(size[1]) * _UNITS[size[2]]


def memory(root: Path) -> int | None:
    """Return the bytes of memory of the machine."""
    match = _MEMORY.search(_text(root / "proc/meminfo"))
    return int(match[1]) * 1024 if match else None


def memory_limit(root: Path) -> int | None:
    """Return the bytes that the tightest control group allows; None where there is no limit."""
    limits = []
    for folder in _groups(root, "memory"):
        text = _text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes")
        if text.strip().isdigit() and int(text) < _NO_LIMIT:
            limits.append(int(text))
    return min(limits, default=None)


def resident_memory(root: Path = ROOT) -> int | None:
    """Return the bytes of this process that are in memory now."""
    _, pages, *_ = [*_text(root / "proc/self/statm").split(), "", ""]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") if pages.isdigit() else None


def highest_resident_memory(root: Path = ROOT) -> int | None:
    """Return the most bytes of this process that were ever in memory at once."""
    match = _HIGHEST.search(_text(root / "proc/self/status"))
    return int(match[1]) * 1024 if match else None


def _groups(root: Path, controller: str = "cpu") -> Iterator[Path]:
    """Yield folders of the control groups that hold this process, innermost first.

    In a container the path may name a folder of the host, which is not there; the container's own
    group is then what is mounted at the top, so all folders upward are asked.
    """
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            mounts = ["", "unified"]
        elif controller in controllers.split(","):
            mounts = [controllers, controller]
        else:
            continue
        parts = [part for part in path.split("/") if part]
        if ".." in parts:  # outside what this container can see
            parts = []
        for mount in mounts:
            top = root / "sys/fs/cgroup" / mount
            if (top / "cgroup.procs").exists():
                yield from (top.joinpath(*parts[:n]) for n in range(len(parts), -1, -1))
                break


def _text(path: Path) -> str:
    """Return the file's text; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def child_processes(root: Path = ROOT) -> frozenset[int]:
    """Return the numbers of processes that this one started and has not waited for."""
    lists = (root / "proc/self/task").glob("*/children")
    return frozenset(int(number) for path in lists for number in _text(path).split())


def is_mounted(root: Path) -> bool:
    """Whether processes are listed there at all."""
    return bool(_text(root / "proc/self/stat"))


def process_start(root: Path, pid: int) -> int | None:
    """Return the ticks from the machine's start to that of a process; None where it is over.

    One that has ended and was not waited for yet is over too.
    """
    # Its name stands in front, in parentheses, and may have some of its own.
    state, *numbers = _text(root / f"proc/{pid}/stat").rpartition(")")[2].split() or ("",)
    if state in ("Z", "X") or len(numbers) <= _START or not numbers[_START].isdigit():
        return None
    return int(numbers[_START])
