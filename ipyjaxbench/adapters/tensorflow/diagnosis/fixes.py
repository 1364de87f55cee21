"""What to write instead: each fix is traced, and gives what the code gives, before it is shown."""

import ast
import linecache
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared.diagnosis.eager import SAME
from ipyjaxbench.adapters.shared.diagnosis.rewrite import Rewrite, rewrite
from ipyjaxbench.adapters.shared.diagnosis.source_edit import (
    MADE,
    compile_inner,
    function_with_code,
    wrap_in_factory,
)
from ipyjaxbench.adapters.tensorflow.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.tensorflow.diagnosis.rules import RULES
from ipyjaxbench.adapters.tensorflow.graphs import autograph_source, references, tracing
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.graphs import Fix
from ipyjaxbench.usercode import Call

_FILE = f"{MADE}>"


def find_fixes(call: Call, file: str, line: int) -> Iterator[Fix]:
    """Yield rewritten lines with which a call that fails at a line traces, and gives the same."""
    old = _function_at(call.function, file, line)
    if old is None or old.__name__ == "<lambda>":  # AutoGraph could not read one that is made
        return
    eager = EagerCall(call)
    is_shown = False  # of several that change nothing one is enough
    known = dict[str, bool | None]()

    def helps(new: Rewrite) -> bool:
        if is_shown and not new.edit.changes:
            return False
        known[new.text] = _agrees(call, old, new, eager)
        return known[new.text] is not False

    try:
        for new in rewrite(old, line, helps, RULES):
            is_shown = is_shown or not new.edit.changes
            shown, gone = new.text, new.replaces
            if autograph_source.is_made(file):  # of what was typed
                shown, gone = (each.removeprefix("return ") for each in (shown, gone))
            yield Fix(shown, new.edit.changes, SAME if known[new.text] else "", gone)
    finally:
        linecache.cache.pop(_FILE, None)


def _agrees(call: Call, old: FunctionType, new: Rewrite, eager: EagerCall) -> bool | None:
    """Whether a call traces and gives the same in a graph; None where only the first is known."""
    made = _built(new, old)
    function = _replace_function(call.function, old, made) if made is not None else None
    if function is None:
        return False
    try:
        return eager.agrees(tracing.trace(replace(call, function=function)))
    except CODE_ERRORS:  # the user's code may raise anything
        return False


def _built(new: Rewrite, old: FunctionType) -> FunctionType | None:
    """Return the function of a tree; where it calls itself it calls the new one."""
    text = ast.unparse(wrap_in_factory(new.definition, old))
    # AutoGraph reads the source of what it runs.
    linecache.cache[_FILE] = len(text), None, text.splitlines(keepends=True), _FILE
    code = compile_inner(text, _FILE, old)
    if code is None:
        return None
    names = {**old.__globals__, "tf": tf}
    made = names[old.__name__] = function_with_code(old, code, names)
    return made


def _function_at(top: Any, file: str, line: int) -> FunctionType | None:
    """Return the innermost function that holds a line: what is called, or one that it uses."""
    held = [f for f in references.functions_of(top) if f.__code__.co_filename == file
            and f.__code__.co_firstlineno <= line <= _last_line(f)]  # fmt: skip
    return max(held, key=lambda f: f.__code__.co_firstlineno, default=None)


def _last_line(function: FunctionType) -> int:
    return max((line for *_, line in function.__code__.co_lines() if line), default=0)


def _replace_function(
    top: Any, old: FunctionType, new: Callable[..., Any]
) -> Callable[..., Any] | None:
    """Return what is called, with the new function in place of the old one."""
    _, autograph = references.python_function(top)
    plain, made = references.innermost_function(top), None
    if plain is old:
        made = new
    elif isinstance(plain, MethodType) and plain.__func__ is old:
        # A tf.function keeps the object behind a weak reference.
        made = MethodType(new, getattr(plain.__self__, "target", plain.__self__))
    elif isinstance(plain, FunctionType):
        names = {**plain.__globals__, old.__name__: new}
        made = function_with_code(plain, plain.__code__, names)
    if made is None or plain is top:
        return made
    return tf.function(made, autograph=autograph)  # type: ignore[no-any-return]
