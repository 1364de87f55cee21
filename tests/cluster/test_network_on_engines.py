"""The network of real jobs: `jax.distributed` and torch.distributed, over gloo."""

from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.frameworks import COLLECTIVES
from tests.cluster.conftest import DEVICES


def measure_twice(kind: str) -> dict[str, Any]:
    """What a rank finds, and whether all that a user can set is as before; it runs there."""
    import gc

    from ipyjaxbench.cluster import join, measure_network
    from ipyjaxbench.frameworks import find_job
    from ipyjaxbench.host import Clock

    def settings() -> list[Any]:
        if kind == "jax":
            import jax

            gc.collect()
            return [dict(jax.config.values), len(jax.live_arrays())]
        import torch
        import torch.distributed as dist

        groups = len(dist.distributed_c10d._world.pg_map)
        return [torch.get_rng_state().tolist(), torch.is_grad_enabled(), groups,
                str(torch.get_default_device()), str(torch.get_default_dtype())]  # fmt: skip

    job = find_job()
    assert job is not None
    before, found = settings(), []
    for remeasure in (True, False):
        with join(*job, 30, Clock.elapsed()) as rendezvous:
            found.append(measure_network(rendezvous, remeasure=remeasure, seconds=0.5))
    same = settings() == before
    first, again = found
    if first is None or again is None:
        return {"same": same}
    return {
        "times": [[each.kind, each.nbytes, each.seconds] for each in first.times],
        "missing": first.missing, "participants": first.participants,
        "transport": first.transport, "same": same, "stored": again.stored,
    }  # fmt: skip


@pytest.mark.parametrize(("kind", "participants"), [("torch", 2), ("jax", sum(DEVICES))])
def test_collectives_are_timed_and_nothing_is_changed(
    kind: str, participants: int, started: Callable[[str], Any]
) -> None:
    found, other = started(kind)[:].apply_async(measure_twice, kind).get(60)
    assert (found["participants"], found["transport"]) == (participants, "gloo")
    missing = {"broadcast": "not offered by gloo"} if kind == "jax" else {}
    assert found["missing"] == missing
    assert {kind for kind, *_ in found["times"]} == {*COLLECTIVES} - {*missing}
    for _, nbytes, seconds in found["times"]:
        assert nbytes >= 4096
        assert len(seconds) == 2
        assert 0 < min(seconds) <= max(seconds) < 10
    assert (found["same"], other["same"], found["stored"]) == (True, True, True)
