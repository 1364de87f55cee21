"""Hooks of all modules that a program was made without: dynamo has no guard where none were there.

Where some of a kind were there, dynamo guards those, and compiles again for another one.
"""

from torch.nn.modules import module

from ipyjaxbench.retracing import Change

#: PyTorch's own dictionaries of them (private), by the function that registers one.
REGISTERS = {
    "register_module_forward_hook": "_global_forward_hooks",
    "register_module_forward_pre_hook": "_global_forward_pre_hooks",
    "register_module_full_backward_hook": "_global_backward_hooks",
    "register_module_full_backward_pre_hook": "_global_backward_pre_hooks",
}
HOOK = "a global module hook"

#: By the token of the code that dynamo made: of which kinds there were some.
_made_with: dict[int, frozenset[str]] = {}


def keep_registered(made: int) -> None:
    """Remember with which kinds of them some code was made."""
    _made_with[made] = frozenset(_registered())


def lacking_global_hooks(name: str, made: int) -> tuple[Change, ...]:
    """Return of which kinds there are some now that the program of a cached call was made without.

    Args:
        name: of what was compiled.
        made: the token of the code that dynamo made.
    """
    known = _made_with.get(made)
    new = [kind for kind in _registered() if known is not None and kind not in known]
    if not new:
        return ()
    words = f"({', '.join(new)}) has come that the program of {name} lacks"
    return (Change("stale", HOOK, new=words),)


def _registered() -> list[str]:
    return [kind for kind, held in REGISTERS.items() if getattr(module, held, None)]
