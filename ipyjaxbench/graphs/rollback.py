"""Runs code for a look, and puts back whatever it changed, in all frameworks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from traceback import walk_tb

from ipyjaxbench.frameworks import Checkpoint, Framework, MutableState, loaded
from ipyjaxbench.usercode import Call, is_users_file, values_in


@contextmanager
def rolled_back(
    roots: Mapping[str, object], traced_by: Framework | None = None
) -> Iterator[Checkpoint]:
    """Put back what is reached from some values, by name, and all random state.

    Arrays of the framework that traces are not copied: it has stand-ins for them.

    Yields:
        The checkpoint; its `failed` names what could not be put back.
    """
    __tracebackhide__ = True
    with keep_random_state([*roots.values()]):
        checkpoint = Checkpoint(roots, loaded()[0], None, without=traced_by)
        try:
            yield checkpoint
        finally:
            checkpoint.restore()


@contextmanager
def keep_random_state(values: Sequence[object] = ()) -> Iterator[None]:
    """Put back what random numbers are drawn from, in all frameworks and by generators given."""
    __tracebackhide__ = True
    frameworks, _ = loaded()
    states = (framework.capability(MutableState) for framework in frameworks)
    restores = [state.random_state(values, later=True) for state in states]
    try:
        yield
    finally:
        for restore in restores:
            if restore is not None:
                restore()


def roots_of(call: Call) -> dict[str, object]:
    """Return what a call is made of, by name."""
    return {"self": call.function, **dict(call.arguments)}


def roots_in(error: BaseException) -> dict[str, object]:
    """Return what the user's functions that raised an error know by name."""
    roots: dict[str, object] = {}
    known: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in known:
        known.add(id(cause))
        for frame, _ in walk_tb(cause.__traceback__):
            if is_users_file(frame.f_code.co_filename):
                roots |= values_in(frame)
        cause = cause.__cause__ or cause.__context__
    return roots
