"""`%fwtime --trace` in a real shell, with real frameworks."""

import sys
from collections.abc import Iterator
from pathlib import Path

import jax  # noqa: F401  importing them changes the environment, which no test may do
import pytest
import tensorflow as tf  # noqa: F401
import torch  # noqa: F401
from IPython.core.error import UsageError

from ipyjaxbench import Measurement
from ipyjaxbench.reports.result import MIME
from tests.chrome_trace import Slice, read
from tests.shell import Shell

SETUP = {
    "jax": """
import jax, jax.numpy as jnp
x = jnp.ones((300, 300))
def sum_of_sines(x):  # lines are shown where all live programs of a name agree on them
    y = x @ x
    return jnp.sin(y).sum()
step = jax.jit(sum_of_sines)
""",
    "torch": """
import torch
x = torch.ones(300, 300)
def step(x):
    y = x @ x
    return torch.sin(y).sum()
""",
    "tensorflow": """
import tensorflow as tf
x = tf.ones((300, 300))
def step(x):
    y = x @ x
    return tf.reduce_sum(tf.sin(y))
""",
}


@pytest.fixture(autouse=True)
def _no_coverage() -> Iterator[None]:
    """Coverage has Python's hook, which lines need."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def timed(shell: Shell, path: Path, code: str = "step(x)") -> tuple[Measurement, list[Slice]]:
    """The measurement as it is shown, and what the strict reader finds in its file."""
    shell.run(f"%fwtime -n 1 -r 3 --trace {path} {code}")
    (output,) = shell.shown
    measurement = Measurement.from_dict(output.data[MIME])
    assert measurement.trace is not None
    assert measurement.trace.reason == ""
    return measurement, read(path)


@pytest.mark.parametrize("name", SETUP)
@pytest.mark.usefixtures("real_clock")
def test_a_pass_is_written_with_phases_lines_and_operations(
    shell: Shell, tmp_path: Path, name: str
) -> None:
    shell.run(SETUP[name])
    m, slices = timed(shell, tmp_path / "a.json.gz")
    assert m.device is not None
    assert m.trace is not None
    (profiled,) = m.device.passes
    assert (m.trace.reason, m.trace.missing, m.trace.events) == ("", "", len(slices))
    phases = [s for s in slices if s.track == f"phases ({name})"]
    operations = [s for s in slices if s.process.startswith("cpu") and s.track != "lines"]
    lines = [s.name for s in slices if s.track == "lines"]
    assert len({s.args["call"] for s in phases if s.args}) == profiled.calls
    assert len(operations) == profiled.launches
    # Other programs may have the CPU between two readings of the clock.
    inside, elapsed = sum(s.ns for s in phases) * 1e-9, profiled.elapsed
    assert 0.5 * elapsed < inside <= 1.05 * elapsed + 1e-3
    assert lines.count("step(x)") == profiled.calls
    assert lines.count("y = x @ x") >= profiled.calls
    if name == "torch":  # the middle of one lies in the line that runs it
        middles = [(s.begun + s.ended) / 2 for s in slices if s.name == "aten::matmul"]
        ran = [s for s in slices if s.name == "y = x @ x"]
        assert middles
        assert all(any(li.begun < middle < li.ended for li in ran) for middle in middles)
    # Both clocks agree: what runs for the calls runs between the first and the last of them.
    first, last = min(s.begun for s in phases), max(s.ended for s in phases)
    assert all(first <= s.begun and s.ended <= last for s in operations)


def test_a_place_that_cannot_be_is_refused_and_code_without_a_profiler_has_no_file(
    shell: Shell, tmp_path: Path
) -> None:
    ran: list[int] = []
    shell.names["note"] = ran.append
    message = "a file name that ends with .json or .json.gz"
    with pytest.raises(UsageError, match=message) as raised:
        shell.run("%fwtime --trace a.txt note(1)")
    assert "\n" not in str(raised.value)
    assert ran == []
    shell.run(f"r = %fwtime -q -n 2 -r 2 --trace {tmp_path / 'a.json'} sum(range(9))")
    assert shell.names["r"].trace.words() == "not written: there is no profiler for it"
    assert not (tmp_path / "a.json").exists()
    assert len(shell.names["r"].batches) == 2
