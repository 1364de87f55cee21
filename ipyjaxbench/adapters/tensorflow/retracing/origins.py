"""Which `tf.function` a concrete function is a trace of: TensorFlow does not keep that."""

import weakref
from typing import Any

from ipyjaxbench.adapters.tensorflow.graphs import autograph_source
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import TracedCode
from ipyjaxbench.usercode import Reads, is_users_file

_TRACER = "func_graph_from_py_func"

_known: "weakref.WeakKeyDictionary[Any, weakref.ref[Any]]" = weakref.WeakKeyDictionary()
_are_users: "weakref.WeakKeyDictionary[Any, bool]" = weakref.WeakKeyDictionary()


class LostCode(TracedCode):
    """A trace of the user's code, which nothing leads back to."""

    unknown = "runs today's code: its trace was not seen, or its `tf.function` is gone"

    def reads(self) -> Reads | None:
        """Nothing is known."""
        return None

    def is_another_program(self, compiled: Any, *, if_unsure: bool | None = True) -> bool | None:  # noqa: ARG002
        """Nothing is known."""
        return None

    def is_dropped(self) -> bool:
        """Whoever calls it holds it."""
        return False


def keep_origin(concrete: Any, function: Any) -> None:
    """Note what a new trace is of; neither is kept alive."""
    _known[concrete] = weakref.ref(function)


def origin_of(concrete: Any) -> Any | None:
    """Return the `tf.function` that a trace is of; None where it is gone, or was not seen."""
    known = _known.get(concrete)
    return None if known is None else known()


def keeps_unseen(function: Any) -> bool:
    """Whether a `tf.function` keeps a trace that was not seen (private)."""
    try:
        return any(each not in _known for each in function._function_cache.values())
    except CODE_ERRORS:  # another version
        return False


def is_of_users(concrete: Any) -> bool:
    """Whether a concrete function was traced of the user's code; a loaded one has none."""
    try:
        if concrete not in _are_users:
            _are_users[concrete] = any(map(_is_users, concrete.graph.get_operations()))
        return _are_users[concrete]
    except CODE_ERRORS:  # its graph is gone
        return False


def _is_users(op: Any) -> bool:
    frames = [*(op.traceback or ())]
    starts = [place for place, frame in enumerate(frames) if frame.name == _TRACER]
    inner = frames[starts[-1] :] if starts else ()
    return any(is_users_file(autograph_source.cell_file(frame.filename)) for frame in inner)
