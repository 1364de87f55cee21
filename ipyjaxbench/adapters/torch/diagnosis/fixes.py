"""What to write instead: each fix is traced, and gives what the code gives, before it is shown."""

from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType

from ipyjaxbench.adapters.shared.diagnosis.eager import SAME
from ipyjaxbench.adapters.shared.diagnosis.rewrite import Rewrite, rewrite
from ipyjaxbench.adapters.shared.diagnosis.source_edit import compile_inner, wrap_in_factory
from ipyjaxbench.adapters.torch.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.torch.diagnosis.rules import RULES, RULES_OF_FUNCTIONS
from ipyjaxbench.adapters.torch.graphs import dynamo_frames
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import Fix
from ipyjaxbench.usercode import Call


def find_fixes(
    call: Call, line: int, code: CodeType, find: Callable[[Call], object], eager: EagerCall
) -> Iterator[Fix]:
    """Yield rewritten lines of some code with which a call traces, and gives the same.

    Args:
        call: as it was tried.
        line: that fails.
        code: which holds it.
        find: what is to trace the call.
        eager: what the call gives.
    """
    functions = dynamo_frames.functions_of([code])
    if not functions or "torch" not in functions[0].__globals__:
        return
    shown = set[str]()
    known = dict[str, bool | None]()

    def helps(new: Rewrite) -> bool:
        if new.text in shown:
            return False
        known[new.text] = _agrees(call, functions, new, find, eager)
        return known[new.text] is not False

    for new in rewrite(functions[0], line, helps, RULES, RULES_OF_FUNCTIONS):
        shown.add(new.text)
        how = SAME if new.edit.same and known[new.text] else ""
        yield Fix(new.text, new.edit.changes, how, new.replaces)


def _agrees(
    call: Call,
    functions: Sequence[FunctionType],
    new: Rewrite,
    find: Callable[[Call], object],
    eager: EagerCall,
) -> bool | None:
    """Whether a call gives the same while all functions that have the same code have another one.

    It has to trace, and to give what it gave, or what it gives with that code where this may
    differ; None where it traces and that is not known.
    """
    before, _ = functions[0].__code__, eager.result  # made while the code is the user's
    tree = wrap_in_factory(new.definition, functions[0])
    code = compile_inner(tree, before.co_filename, functions[0])
    if code is None or code.co_freevars != before.co_freevars:
        return False
    for function in functions:
        function.__code__ = code
    try:
        find(call)
        return (eager if new.edit.same else eager.again()).agrees()
    except CODE_ERRORS:  # whatever it is, it is no fix
        return False
    finally:
        for function in functions:
            function.__code__ = before
