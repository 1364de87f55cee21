"""The network of jobs of real processes: `jax.distributed` and torch.distributed, over gloo."""

from pathlib import Path

import pytest

from tests.cluster.real_job import run_job


@pytest.mark.parametrize(
    ("framework", "kinds", "missing"),
    [
        ("torch", {"all-reduce", "all-gather", "reduce-scatter", "broadcast"}, {}),
        (
            "jax",
            {"all-reduce", "all-gather", "reduce-scatter"},
            {"broadcast": "not offered by gloo"},
        ),
    ],
)
def test_collectives_are_timed_and_nothing_is_changed(
    framework: str, kinds: set[str], missing: dict[str, str], tmp_path: Path
) -> None:
    found = run_job("network_rank", framework, JUPYTER_DATA_DIR=str(tmp_path))
    assert (found["participants"], found["transport"]) == (2, "gloo")
    assert {kind for kind, *_ in found["times"]} == kinds
    assert found["missing"] == missing
    for _, nbytes, seconds in found["times"]:
        assert nbytes >= 4096
        assert len(seconds) == 2
        assert 0 < min(seconds) <= max(seconds) < 10
    assert found["same"]
    assert found["stored"]
