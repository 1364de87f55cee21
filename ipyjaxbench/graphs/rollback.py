"""Runs code for a look, and puts back whatever it changed, in all frameworks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from ipyjaxbench.frameworks import Checkpoint, Framework, MutableState, loaded
from ipyjaxbench.graphs.components import Compiled, Live, Load, Node
from ipyjaxbench.reports import Note
from ipyjaxbench.usercode import Call, is_users_file, names_in


@contextmanager
def rolled_back(
    roots: Mapping[str, object], traced_by: Framework | None = None
) -> Iterator[Checkpoint]:
    """What is reached from some values, and all random state, is afterwards as it was.

    Args:
        roots: values by the names under which the code that runs knows them.
        traced_by: traces that code, with stand-ins for its own arrays: those are not copied.

    Yields:
        The checkpoint; its `failed` names what could not be put back.
    """
    __tracebackhide__ = True
    frameworks, _ = loaded()
    draws = [each.capability(MutableState).random_state((), later=True) for each in frameworks]
    checkpoint = Checkpoint(roots, frameworks, None, without=traced_by)
    try:
        yield checkpoint
    finally:
        checkpoint.restore()
        for restore in draws:
            if restore is not None:
                restore()


def roots_of(call: Call) -> dict[str, object]:
    """Return what a call is made of, by name."""
    return {"self": call.function, **dict(call.arguments)}


def roots_in(error: BaseException) -> dict[str, object]:
    """Return what the user's functions that raised an error know by name."""
    found: dict[str, object] = {}
    known: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in known:
        known.add(id(cause))
        step = cause.__traceback__
        while step is not None:
            frame, step = step.tb_frame, step.tb_next
            if is_users_file(frame.f_code.co_filename):
                names = names_in(frame.f_code)
                found |= {n: frame.f_globals[n] for n in names if n in frame.f_globals}
                found |= frame.f_locals if frame.f_locals is not frame.f_globals else {}
        cause = cause.__cause__ or cause.__context__
    return found


class RolledBack(Live):
    """A program in memory; what is run to tell more of it is put back too.

    Args:
        live: the framework's.
        call: whose program it is.
        framework: that made it.
    """

    def __init__(self, live: Live, call: Call, framework: Framework) -> None:
        self._live, self.program = live, live.program
        self._rolled_back = partial(rolled_back, roots_of(call), framework)

    def text(self, stage: str) -> str:
        """Return the whole text of a stage."""
        __tracebackhide__ = True
        with self._rolled_back():
            return self._live.text(stage)

    def nodes(self) -> tuple[Node, ...]:
        """Inputs, operations and outputs."""
        return tuple(self._live.nodes())

    def compiled(self) -> Compiled | None:
        """Return what the framework's compiler makes of it."""
        with self._rolled_back():
            return self._live.compiled()

    def load(self, nbytes: int) -> Load | None:
        """Return what it has to do."""
        return self._live.load(nbytes)

    def checks(self) -> tuple[Note, ...]:
        """Return what it holds that may not be expected."""
        with self._rolled_back():
            return self._live.checks()
