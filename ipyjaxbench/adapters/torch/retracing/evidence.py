"""Why dynamo finds no program for a call, beyond what signatures tell; nothing is run."""

from ipyjaxbench.adapters.torch.retracing import guards
from ipyjaxbench.adapters.torch.retracing.accepted import accepted
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.outside import outside
from ipyjaxbench.retracing import Evidence


def evidence(entered: Entered) -> Evidence:
    """Return what the conditions of the programs that are there tell of a call."""
    failed = guards.failing(entered)
    first = tuple(guard.change for guard in failed[:1])
    is_known = any(guard.is_in_signature for guard in failed)
    beside = outside(entered) or (() if is_known else first)
    return Evidence(tuple(dict.fromkeys((*first, *beside))), beside, accepted(entered))
