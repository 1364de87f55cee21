"""What a JAX program has to do, whichever way XLA computes it."""

from typing import Any

from jax.interpreters import partial_eval

from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.adapters.jax.graphs.flops import ELEMENTWISE, REDUCTIONS
from ipyjaxbench.adapters.jax.graphs.tally import Tally
from ipyjaxbench.graphs import Workload

#: They read all that they are given, or only say how it is to be seen.
_WHOLE = (
    ELEMENTWISE
    | REDUCTIONS
    | {"dot_general", "convert_element_type", "reshape", "transpose", "broadcast_in_dim", "squeeze",
       "expand_dims", "copy", "jit", "pjit", "custom_jvp_call", "custom_vjp_call"}
)  # fmt: skip


def workload_of(closed: Any, nbytes: int) -> Workload | None:
    """Return the load of a program; see `ProgramHandle.workload`."""
    tally = Tally(closed)
    if tally.uncounted:
        return None
    names = {equation.primitive.name for equation in program.equations_of(closed.jaxpr)}
    convolves = "conv_general_dilated" in names
    whole = names <= _WHOLE and _uses_all(closed.jaxpr)
    return Workload(
        dict(tally.products), convolves, nbytes if whole else None, dict(tally.recomputed)
    )


def _uses_all(jaxpr: Any) -> bool:
    """Whether what comes out is computed, and depends on all that goes in."""
    inputs = {id(variable) for variable in jaxpr.invars}
    if any(id(variable) in inputs for variable in jaxpr.outvars):
        return False
    try:
        _, used = partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    except (AttributeError, TypeError):  # it is documented nowhere
        return False
    return all(used)
