"""The programs that dynamo keeps with code."""

from typing import Any

from ipyjaxbench.adapters.torch.retracing import callee
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.retracing import Args, KeptPrograms, Kwargs


class TorchKeptPrograms(KeptPrograms):
    """Those of the code that a call enters; dynamo tells no calls."""

    def are_dropped(self, function: Any, args: Args, kwargs: Kwargs) -> bool:
        """Whether dynamo keeps nothing with its code, as after `torch._dynamo.reset`."""
        entered = Entered.from_call(function, args, kwargs)
        return entered is not None and callee.has_no_entries(entered.code)
