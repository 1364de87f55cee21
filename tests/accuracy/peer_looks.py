"""What other tools say of the same text: each as its users run it, and the time that it takes."""

import math
import re
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tests.accuracy.case import Case, Names, settle
from tests.accuracy.looks import Look, spent

_WALL = re.compile(r"Wall time: ([\d.]+) ?(\S+)")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}


def timeit_magic(case: Case, names: Names) -> float:
    """The mean of 7 runs."""
    with _shell(names) as shell:
        once = "-n1 -r1 " if case.first else ""
        found, _ = _cell(shell, f"%timeit -o -q {once}{case.typed}")
        return float(found.average)


def time_magic(case: Case, names: Names) -> float:
    """The wall time of one call, as it is printed."""
    with _shell(names) as shell:
        _, shown = _cell(shell, f"%time {case.typed}")
        number, unit = _WALL.findall(shown)[0]
        return float(number) * _UNITS[unit]


def timeit_module(case: Case, names: Names) -> float:
    """The best of 5 runs, as ``python -m timeit`` prints it."""
    timer = timeit.Timer(case.typed, globals=names)
    if case.first:
        return timer.timeit(1)
    number, _ = timer.autorange()
    return min(timer.repeat(5, number)) / number


def torch_timer(case: Case, names: Names) -> float | None:
    """The median of `torch.utils.benchmark.Timer`; None where there is no PyTorch."""
    if find_spec("torch") is None:
        return None
    from torch.utils.benchmark import Timer

    timer = Timer(case.typed, globals=names)
    return float((timer.timeit(1) if case.first else timer.blocked_autorange()).median)


PEERS: dict[str, Callable[[Case, Names], float | None]] = {
    "%timeit": timeit_magic,
    "%time": time_magic,
    "timeit": timeit_module,
    "Timer": torch_timer,
}


def start() -> None:
    """Start the shell, so that the first look does not pay for it."""
    with _shell({}):
        pass


def look_of(peer: str, case: Case, names: Names) -> Look | None:
    """What a peer says; not a number where it fails, None where it is not installed."""
    settle(names)
    exec(case.dirt, names)
    try:
        figure, seconds = spent(lambda: PEERS[peer](case, names))
    except Exception:
        return Look(math.nan, 0.0)  # such as an assignment that reads its own name
    finally:
        settle(names)
    return None if figure is None else Look(figure, seconds)


def _cell(shell: Any, code: str) -> tuple[Any, str]:
    """What a cell returns, and what it prints."""
    with capture_output() as shown:
        done = shell.run_cell(code)
    done.raise_error()
    return done.result, shown.stdout


@contextmanager
def _shell(names: Names) -> Iterator[Any]:
    """A shell whose user has these names; what it does to them is done to these."""
    shell = InteractiveShell.instance()
    before = dict(shell.user_ns)
    shell.user_ns.update(names)
    try:
        yield shell
    finally:
        names.update({name: shell.user_ns[name] for name in names if name in shell.user_ns})
        shell.user_ns.clear()
        shell.user_ns.update(before)
