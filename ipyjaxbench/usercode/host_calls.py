"""Callbacks, as of `jax.debug.callback`: they run on the host, and read names in each call."""

import dis
import functools
from collections.abc import Iterator
from types import CodeType

#: Names of frameworks' functions that take one to be called on the host.
_HOST_CALLS = frozenset({
    "pure_callback", "io_callback", "py_function", "numpy_function", "py_func",
})  # fmt: skip
#: What stands between such a name and the code of a function that is written there.
_BETWEEN = ("PUSH_NULL", "LOAD_CLOSURE", "LOAD_FAST", "LOAD_FAST_LOAD_FAST", "BUILD_TUPLE")


@functools.lru_cache(maxsize=1024)
def host_arguments(code: CodeType) -> tuple[frozenset[int], frozenset[CodeType]]:
    """Return where code loads callbacks, and which of them are written in it.

    Returns:
        Offsets of instructions, and code of functions that are written there.
    """
    offsets: set[int] = set()
    codes: set[CodeType] = set()
    within = {each.co_name: each for each in code.co_consts if isinstance(each, CodeType)}
    instructions = [*dis.get_instructions(code)]
    for number, each in enumerate(instructions):
        if not _is_host_call(each, instructions[number - 1]):
            continue
        first, *later = [i for i in instructions[number + 1 :] if i.opname != "PUSH_NULL"]
        offsets.add(first.offset)
        written = next((i for i in (first, *later) if i.opname not in _BETWEEN), first)
        name = next(iter(first.argval), "") if type(first.argval) is tuple else first.argval
        if isinstance(written.argval, CodeType):
            codes.add(written.argval)
        elif name in within:
            codes.add(within[name])
    return frozenset(offsets), frozenset(codes)


def traced_names(code: CodeType) -> tuple[str, ...]:
    """Return the names that such code uses, attributes among them."""
    return tuple(dict.fromkeys(name for each in traced_codes(code) for name in each.co_names))


def _is_host_call(each: dis.Instruction, before: dis.Instruction) -> bool:
    """Whether it loads a function that takes one to be called on the host."""
    if not isinstance(each.argval, str) or not each.opname.startswith("LOAD_"):
        return False
    return each.argval in _HOST_CALLS or (each.argval, before.argval) == ("callback", "debug")


def traced_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield some code and that of all functions in it but those that the host calls."""
    yield code
    on_host = host_arguments(code)[1]
    for each in code.co_consts:
        if isinstance(each, CodeType) and each not in on_host:
            yield from traced_codes(each)
