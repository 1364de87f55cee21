"""What to type so that a compiled function is another one, for which no program is kept."""

import functools
import re
from types import FunctionType
from typing import Any

from ipyjaxbench.usercode import assignment_of, how_to_define, is_exactly, reads_itself

#: What returns the same function again.
_KEEPS = type(functools.cache(len))


def define_again(plain: FunctionType, compiled: Any, name: str, compiler: str, quote: str) -> str:
    """Return what to do so that a function is defined again, and compiled anew.

    Args:
        plain: what the user wrote.
        compiled: what the compiler made of it.
        name: of it, quoted.
        compiler: what it was given to, as "jax.jit".
        quote: to put around other names.
    """
    outer, _, _ = plain.__qualname__.rpartition(".")
    made = assignment_of(compiled)
    typed_again = f"run {quote}{made}{quote} again"
    if outer.endswith("<locals>"):  # one call after the other makes one
        made_by = outer.removesuffix(".<locals>").removesuffix(".__init__")
        is_whole = f"{made_by}(" in made
        call = typed_again if is_whole else f"call {quote}{made_by}{quote} again for a new {name}"
        is_kept = is_exactly(plain.__globals__.get(made_by), _KEEPS)
        return f"run {quote}{made_by}.cache_clear(){quote}, then {call}" if is_kept else call
    if outer:
        owner = f"{quote}{outer.rpartition('.')[2]}{quote}"
        return f"{how_to_define(plain, owner)}, then make its object anew"
    if plain.__globals__.get(plain.__name__) is plain or reads_itself(made):
        call = f"{quote}{made}{quote}" if made else f"call {quote}{compiler}{quote} on it again"
        return f"{how_to_define(plain, name)}, then {call}"
    # It is decorated, or its name stands for another one by now.
    is_whole = plain.__name__.strip("<>") in re.findall(r"\w+", made)
    return typed_again if is_whole else how_to_define(plain, name)
