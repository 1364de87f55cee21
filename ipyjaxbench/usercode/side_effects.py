"""Code that does something outside of the process, or waits for somebody: it is not run to look."""

from collections.abc import Collection, Iterable
from types import CodeType

from ipyjaxbench.usercode.code_objects import names_in

SIDE_EFFECT_NAMES = frozenset({
    "open", "input", "system", "Popen", "check_output", "check_call", "urlopen", "socket", "remove",
    "unlink", "write", "write_text", "write_bytes", "save", "savez", "savefig", "dump", "to_csv",
    "send", "post", "log", "sleep", "breakpoint", "set_trace", "exit", "_exit", "kill",
})  # fmt: skip
#: Of these, those that are functions of arrays too.
ARRAY_FUNCTION_NAMES = frozenset({"log"})


_NAMES = SIDE_EFFECT_NAMES - ARRAY_FUNCTION_NAMES


def has_side_effects(codes: Iterable[CodeType], names: Collection[str] = _NAMES) -> bool:
    """Whether code, or a function in it, names something that acts."""
    return any(name in names for code in codes for name in names_in(code))
