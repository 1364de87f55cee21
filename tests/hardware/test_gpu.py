"""On a machine with a GPU: ``python -m pytest tests/hardware``. Not part of the ordinary run."""

from pathlib import Path
from typing import Any

import pytest

import ipyjaxbench
from tests.hardware.test_gpu_places import in_a_process


def test_torch_placement_and_random_state(cuda: Any) -> None:
    names = {"torch": cuda}
    cuda.manual_seed(1)
    first, second = (cuda.randn(3, device="cuda") for _ in range(2))
    cuda.manual_seed(1)
    result = ipyjaxbench.measure_code("r = torch.randn(3, device='cuda')", names, budget=0.2)
    assert result.outputs[0].words() == "r f32[3] cuda:0"
    assert cuda.equal(names["r"], first)
    assert cuda.equal(cuda.randn(3, device="cuda"), second)


def test_a_copy_to_the_host_is_told_with_its_bytes(gpu: Any) -> None:
    import numpy as np

    names = {"np": np, "step": gpu.jit(lambda x: x + 1), "x": gpu.numpy.ones((256, 256))}
    result = ipyjaxbench.measure_code("np.array(step(x))", names, budget=0.2)
    (note,) = [note for note in result.notes if note.code == "copies"]
    assert "(256 KiB)" in note.text


PROFILED = """
import json, torch, jax
from ipyjaxbench import measure_code
x, t = jax.numpy.ones((2048, 2048)), torch.ones(2048, 2048, device="cuda")
step = jax.jit(lambda x: x @ x)
def busy(code):
    found = measure_code(code, {{"step": step, "x": x, "t": t}}, profile=True, budget=0.2)
    return [found.device.busy, *found.device.reasons.values()]
print(json.dumps([busy(code) for code in {codes}]))
"""


@pytest.mark.parametrize("codes", [["step(x)", "t @ t"], ["t @ t", "step(x)"]])
def test_each_profiler_sees_kernels_or_says_why_not(cuda: Any, gpu: Any, codes: list[str]) -> None:
    first, second = in_a_process(PROFILED.format(codes=codes))
    assert first[0] > 0
    busy, *reasons = second
    assert busy or "CUPTI" in reasons[0]


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_peaks_of_a_gpu_are_told_beside_a_large_product(
    framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    library = request.getfixturevalue({"torch": "cuda", "jax": "gpu"}[framework])
    if framework == "torch":
        x = library.randn(8192, 8192, device="cuda")
    else:
        x = library.numpy.ones((8192, 8192))
    found = ipyjaxbench.peaks(remeasure=True).found
    peaks = next(c for c in found if c.framework == framework and c.upload is not None)
    assert peaks.download is not None
    assert peaks.bandwidth is not None
    assert peaks.bandwidth > peaks.upload  # its own memory is nearer than the host's
    assert peaks.products["bfloat16"] > peaks.products["float32"]
    result = ipyjaxbench.measure_code("x @ x", {"x": x})
    assert result.roof is not None
    assert 0.5 < result.roof.share < 1.15
