"""What `jnp.frompyfunc` makes: its methods are jitted, and the function is a static argument."""

from types import MethodType
from typing import Any

import jax

from ipyjaxbench.retracing import Args, Invocation, Kwargs
from ipyjaxbench.usercode import attributes

UFUNC = jax.numpy.ufunc
_JITTED = type(jax.jit(len))
#: What a ufunc calls (private), and where it keeps what it was made of.
_CALL, _MADE_OF = "_call_vectorized", "_ufunc__static_props"


def function_of(ufunc: Any) -> Any:
    """Return what a ufunc of `jnp.frompyfunc` applies (private); None of all else.

    JAX's own, as `jnp.add`, call something else.
    """
    made_of = attributes(ufunc).get(_MADE_OF) if type(ufunc) is UFUNC else None
    if type(made_of) is not dict or made_of.get("call", made_of) is not None:
        return None
    return made_of.get("func") if type(vars(UFUNC).get(_CALL)) is _JITTED else None


def unbound(ufunc: Any, args: Args, kwargs: Kwargs) -> Invocation:
    """Return the jitted function that a call of a ufunc runs, and all that it is called with."""
    if function_of(ufunc) is None:
        return ufunc, args, kwargs
    return vars(UFUNC)[_CALL], (ufunc, *args), kwargs


def methods_of(ufunc: Any) -> dict[str, MethodType]:
    """Return the jitted methods of a ufunc of the user's by their names; none of all else."""
    if function_of(ufunc) is None:
        return {}
    jitted = {name: each for name, each in vars(UFUNC).items() if type(each) is _JITTED}
    return {name: MethodType(each, ufunc) for name, each in jitted.items() if name[:1] != "_"}
