"""Whether our figure is right on devices that work in the background, of which we know the work."""

import importlib
import statistics
from collections.abc import Iterator, Sequence

from tests.accuracy.case import Case
from tests.accuracy.cases.background import BACKGROUND
from tests.accuracy.cases.platform import PLATFORM
from tests.accuracy.section import Column, Row, Section, counted
from tests.accuracy.sections.truth import compared

_OFF = 0.05


def _ratio(row: Row) -> float:
    return statistics.median(row["ours"])


def _is_right(row: Row) -> bool:
    return abs(_ratio(row) - 1) <= _OFF


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield counted(rows, _is_right, f"figures are within {_OFF:.0%} of the truth", "further off")


def _section(
    name: str, group: str, standin: str, cases: Sequence[Case], title: str, method: str
) -> Section:
    """Return a section on one kind of device.

    Args:
        name: of the section.
        group: the framework.
        standin: module that says what is ``missing`` for the device, and can ``start`` it.
        cases: expressions; all are left out where something is missing.
        title: of the section.
        method: what works in the background, and what the truth is.
    """

    def measure(group: str, rounds: int) -> Iterator[Row]:
        device = importlib.import_module(standin)
        missing = device.missing()
        if not missing:
            device.start()
        for case in cases:
            row = {"group": group, "name": case.name, "typed": case.typed}
            yield row | ({"left_out": f"needs {missing}"} if missing else compared(case, rounds))

    return Section(
        name=name,
        title=title,
        method=method,
        columns=(
            Column("truth, µs", 12, "microseconds per call", lambda r: f"{r['truth'] * 1e6:.1f}"),
            Column("ours", 6, "our figure divided by the truth, the median of the rounds",
                   lambda r: f"{_ratio(r):.2f}"),
            Column("range", 11, "of that ratio over the rounds",
                   lambda r: f"{min(r['ours']):.2f}-{max(r['ours']):.2f}"),
            Column("verdict", 8, "whether it is within 5 % of 1",
                   lambda r: "ok" if _is_right(r) else "OUT"),
        ),
        summary=_summary,
        measure=measure,
        groups=(group,),
    )  # fmt: skip


IN_BACKGROUND = _section(
    "background",
    "torch",
    "tests.async_torch.standin",
    BACKGROUND,
    "Is the figure right where devices work in the background?",
    "PyTorch on two devices that `tests/async_torch` builds: operations return at once, and a"
    " thread for each stream does the work, which is a pause of 5 ms and a small operation, so"
    " that what a call starts is known. The truth is a loop that waits by hand for all streams"
    " of both devices; it is taken before and after ours in each round, as in the first table.",
)
ON_PLATFORM = _section(
    "platform",
    "jax",
    "tests.async_platform.standin",
    PLATFORM,
    "Is the figure right on a JAX platform that is not the host's?",
    "JAX on four devices of a plugin beside the host's own (`tests/async_platform`; Python"
    " 3.12 and jax 0.11.2), which work"
    " in the background on the CPUs of this machine. The truth is a loop that waits by hand for"
    " the arrays that each call makes, those too that it drops; it is taken before and after ours"
    " in each round, as in the first table.",
)
