"""Names that a function imports where it runs: what they stand for is found in a module."""

import dis
import functools
from types import CodeType
from typing import NamedTuple


class Imported(NamedTuple):
    """What an import within a function binds: a module, or what is found below it."""

    module: str  # with dots before it, of a package's own
    steps: tuple[str, ...] = ()


@functools.lru_cache(maxsize=1024)
def local_imports(code: CodeType) -> dict[str, Imported]:
    """Return what the imports in some code bind, by its local names; not what else is bound."""
    found: dict[str, Imported] = {}
    others: set[str] = set()
    instructions = [*dis.get_instructions(code)]
    last: Imported | None = None
    names: tuple[str, ...] | None = None  # of `from module import name`
    for number, each in enumerate(instructions):
        before = instructions[number - 1].opname
        if each.opname == "IMPORT_NAME":
            level, names = (i.argval for i in instructions[number - 2 : number])
            path = each.argval if names else each.argval.partition(".")[0]
            last = Imported("." * level + path)
        elif each.opname == "IMPORT_FROM" and last is not None:
            last = Imported(last.module, (*(() if names else last.steps), each.argval))
        elif each.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            local = each.argval[0] if type(each.argval) is tuple else each.argval
            if before.startswith("IMPORT_") and last is not None:
                found[local] = last
            else:
                others.add(local)
    return {local: each for local, each in found.items() if local not in others}
