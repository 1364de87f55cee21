"""What to type so that a compiled function is another one, for which no program is kept."""

from types import FunctionType

from ipyjaxbench.usercode import how_to_define


def define_again(plain: FunctionType, name: str, compiler: str, quote: str) -> str:
    """Return what to do so that a function is defined again, and compiled anew.

    Args:
        plain: what the user wrote.
        name: of it, quoted.
        compiler: what it was given to, as "jax.jit".
        quote: to put around other names.
    """
    outer, _, _ = plain.__qualname__.rpartition(".")
    if outer.endswith("<locals>"):  # one call after the other makes one
        made_by = outer.removesuffix(".<locals>")
        return f"call {quote}{made_by.removesuffix('.__init__')}{quote} again for a new {name}"
    if outer:
        owner = f"{quote}{outer.rpartition('.')[2]}{quote}"
        return f"{how_to_define(plain, owner)}, then make its object anew"
    if plain.__globals__.get(plain.__name__) is plain:
        return f"{how_to_define(plain, name)}, then call {quote}{compiler}{quote} on it again"
    return how_to_define(plain, name)
