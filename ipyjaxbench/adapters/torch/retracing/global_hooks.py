"""Hooks of all modules that a program was made without: dynamo has no guard where none were there.

Where some of a kind were there, dynamo guards those, and compiles again for another one.
"""

from torch.nn.modules import module

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
    _made_with[made] = frozenset(registered())


def lacking_kinds(made: int) -> list[str]:
    """Return the kinds of global hooks that exist now and that a program lacks.

    Args:
        made: the token of the code that dynamo made.
    """
    known = _made_with.get(made)
    return [kind for kind in registered() if known is not None and kind not in known]


def registered() -> list[str]:
    """Return the kinds of global hooks that exist now."""
    return [kind for kind in REGISTERS if held(kind)]


def held(kind: str) -> dict[int, object]:
    """Return those of a kind, by their numbers."""
    return getattr(module, REGISTERS[kind], None) or {}
