"""The work with which the peaks of PyTorch's devices are measured."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.shared.varied_numbers import varied_numbers
from ipyjaxbench.adapters.torch.precision import matmul_precision
from ipyjaxbench.device import Probe, Run


class TorchProbe(Probe):
    """PyTorch, eager, on one device; ``wait`` is None where that never runs ahead."""

    dtypes = ("float32", "bfloat16", "float16", "float64", "int8")

    def __init__(self, device: torch.device, wait: Callable[[], object] | None) -> None:
        self.device = str(device)
        self.on_host = device.type == "cpu"
        setting = matmul_precision()
        self.settings = "" if setting == "highest" else f"float32 matmul precision: {setting}"
        self._device, self._wait = device, wait

    def product(self, dtype: str, n: int) -> Run:
        """Multiply into memory that is there; CUDA has an operation of its own for int8."""
        x, y = (self._numbers((n, n), getattr(torch, dtype)) for _ in range(2))
        if dtype == "int8" and not self.on_host:
            return self._add_wait(lambda: torch._int_mm(x, y), self.in_a_row)
        out = torch.empty_like(x)
        return self._add_wait(lambda: torch.mm(x, y, out=out), self.in_a_row)

    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Negate in place, which reads and writes, and sum, which reads."""
        x = self._ones((nbytes // 4,), torch.float32)
        times = self.in_a_row
        negate, total = self._add_wait(x.neg_, times), self._add_wait(x.sum, times)
        return (negate, 2 * nbytes * times), (total, nbytes * times)

    def upload(self, nbytes: int) -> Run:
        """Copy from memory that the system may page out, as a user's is."""
        here = torch.ones(nbytes, dtype=torch.uint8, device="cpu")
        there = torch.empty(nbytes, dtype=torch.uint8, device=self._device)
        return self._add_wait(lambda: there.copy_(here))

    def download(self, nbytes: int) -> Run:
        """Copy into such memory."""
        here = torch.ones(nbytes, dtype=torch.uint8, device="cpu")
        there = torch.ones(nbytes, dtype=torch.uint8, device=self._device)
        return self._add_wait(lambda: here.copy_(there))

    def smallest_operation(self) -> Run:
        """Negate a number."""
        return self._add_wait(self._ones((), torch.float32).neg_)

    def _numbers(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if self.on_host:
            return self._ones(shape, dtype)
        host = torch.from_numpy(varied_numbers(str(dtype).removeprefix("torch.")))
        numbers, count = host.to(self._device, dtype), math.prod(shape)
        return numbers.repeat(-(-count // len(numbers)))[:count].view(shape)

    def _ones(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return torch.ones(shape, dtype=dtype, device=self._device, requires_grad=False)

    def _add_wait(self, run: Run, times: int = 1) -> Run:
        wait = self._wait
        if wait is None:
            return run

        def waited() -> object:
            for _ in range(times):
                result = run()
            wait()
            return result

        return waited
