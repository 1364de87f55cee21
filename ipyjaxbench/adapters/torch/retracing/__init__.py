"""Traced or cached, in PyTorch."""

from collections.abc import Callable

import torch

from ipyjaxbench.adapters.torch.retracing import listener
from ipyjaxbench.adapters.torch.retracing.call_watch import TorchCallWatch
from ipyjaxbench.retracing.cache_key import CacheMiss
from ipyjaxbench.retracing.protocol import CallWatch, Retracing


class TorchRetracing(Retracing):
    """Dynamo's hooks."""

    def call_watch(self) -> CallWatch:
        """Dynamo's hooks, one call at a time."""
        return TorchCallWatch(self.framework.drain)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether dynamo, `torch.export` or `torch.jit.trace` is at work."""
        return bool(torch.compiler.is_compiling() or torch.jit.is_tracing())

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """From a hook of dynamo, which is there with the first `torch.compile`, not before."""
        return listener.listen(on_miss)
