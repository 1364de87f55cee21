"""A device that is lost: each magic says so in one line, and all goes on where it comes back."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from IPython.core.error import UsageError

from tests.async_torch import standin
from tests.async_torch.conftest import MS
from tests.shell import Shell

LOST = "standin error: device is lost"
LINE = f"torch cannot wait for its devices: RuntimeError: {LOST}. Restart the kernel if that stays."


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """A function that has the device be lost after it was waited for so many times."""
    left = [10**9]

    def failing(function: Callable[..., Any], step: int) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            left[0] -= step
            if left[0] < 0:
                raise RuntimeError(LOST)
            return function(*args, **kwargs)

        return call

    waiting = failing(torch.accelerator.synchronize, 1)
    monkeypatch.setattr(torch.accelerator, "synchronize", waiting)
    for name in ("get_rng_state", "set_rng_state", "current_device"):
        monkeypatch.setattr(standin, name, failing(getattr(standin, name), 0))

    def lose(after: int) -> None:
        left[0] = after

    yield lose
    left[0] = 10**9


@pytest.mark.parametrize(
    ("cell", "after"),
    [("%fwtime work(x)", 0), ("%fwtime work(x)", 5), ("%fwtime -n 2 -r 2 work(z); x", 1),
     ("%%fwdevices\nwork(x).cpu()", 1)],
)  # fmt: skip
def test_it_is_said_in_one_line(
    cell: str, after: int, run: Shell, lose: Callable[[int], None]
) -> None:
    lose(after)
    with pytest.raises(UsageError) as found:
        run.run(cell)
    assert str(found.value) == LINE
    lose(10**9)
    run.run("%fwtime -q -b 0.2 -v found work(x)")
    assert run.names["found"].best >= 0.95e-3 * MS


def test_arms_fail_in_one_line(run: Shell, lose: Callable[[int], None]) -> None:
    lose(60)
    with pytest.raises(UsageError, match="torch cannot wait for its devices"):
        run.run("%%fwcompare --quick\na: work(x)\nb: work(z)")


def test_where_arrays_live_is_said_all_the_same(run: Shell, lose: Callable[[int], None]) -> None:
    lose(0)
    run.run("%fwdevices x")
    assert "standin:0" in run.shown[-1].data["text/plain"]
