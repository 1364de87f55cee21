"""What engines are asked to call: each returns plain data, and nothing of the user's travels."""

import ctypes
import os
import pickle
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ipyjaxbench.cluster.dependence import depends
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.join import join, name_of
from ipyjaxbench.cluster.look_here import locate_here
from ipyjaxbench.cluster.measure import measure_rank
from ipyjaxbench.cluster.measure_network import measure_network
from ipyjaxbench.cluster.output import recorded
from ipyjaxbench.cluster.rank_facts import facts_here
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.cluster.trace_here import trace_here
from ipyjaxbench.comparison import names_restored
from ipyjaxbench.device import collect_peaks
from ipyjaxbench.errors import CODE_ERRORS, Interrupted, IpyJaxBenchError, called_from
from ipyjaxbench.frameworks import explain_unusable_job, find_job, loaded
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing import TraceOptions
from ipyjaxbench.timing import Measurement, Snapshot, TimeOptions, measure_snippet
from ipyjaxbench.usercode import Namespace, Snippet, Source, describe_error, names_in

Data = dict[str, Any]
#: Threads of this process that measure now, each with where it meets other ranks, if it does.
_measuring: dict[int, Rendezvous | None] = {}


def version() -> str:
    """Return that of this package, in this process."""
    return str(vars(sys.modules["ipyjaxbench"])["__version__"])


def describe() -> Data:
    """Return where this engine runs, and which job it belongs to."""
    own: Data = {"version": version(), "host": socket.gethostname(), "pid": os.getpid()}
    if found := find_job():
        framework, job = found
        return own | {"job": framework.name, "rank": job.rank, "size": job.size}
    return own | {"job": "", "reason": explain_unusable_job()}


def name_job() -> str:
    """Return what all ranks of this engine's job call it; "" where there is none."""
    found = find_job()
    return name_of(found[1]) if found else ""


def time_code(code: str, setup: str | None, options: Data, timeout: float) -> Data:
    """Time code in the engine's own names; in step with the other ranks where it is in a job."""
    names: Namespace = vars(sys.modules["__main__"])
    printed: list[str] = []

    def work() -> Data:
        with recorded(printed):
            return _ranks(_time(code, setup, names, TimeOptions(**options), timeout))

    with called_from("%fwtime"):  # advice is in the words of who reads
        answer = _answer(work)
    return answer | {"printed": "".join(printed)} if any(printed) else answer


def time_arm(
    code: str, setup: str | None, before: str | None, bound: Data, options: Data, timeout: float
) -> Data:
    """Time an arm of a comparison with some names bound; all names are afterwards as they were.

    What runs ``before`` runs once, the ``setup`` before each sample.
    """
    names: Namespace = vars(sys.modules["__main__"])

    def work() -> Data:
        parts = [Snippet(Source.plain(part), names) for part in (before, setup, code) if part]
        randomness = Snapshot(names, (), loaded()[0], later=False)
        with names_restored(parts, *bound):
            names.update(bound)
            try:
                chosen = TimeOptions(**options)
                return _ranks(_time(code, setup, names, chosen, timeout, before=before))
            finally:
                randomness.restore(loaded()[0])

    return _answer(work)


def find_readers(name: str, codes: dict[str, list[str | None]]) -> Data:
    """Say which of several codes, each of some parts, depend on a name; nothing is called."""
    names: Namespace = vars(sys.modules["__main__"])
    return _answer(
        lambda: {"read": [label for label, parts in codes.items() if depends(parts, name, names)]}
    )


def time_call(code: str, sent: Namespace | bytes, options: Data, timeout: float) -> Data:
    """Time a call of a function that was sent, with its arguments, also as one pickle."""

    def work() -> Data:
        names = pickle.loads(sent) if isinstance(sent, bytes) else sent
        _complete(names.values())
        return _ranks(_time(code, None, names, TimeOptions(**options), timeout))

    return _answer(work)


def _complete(values: Iterable[object]) -> None:
    """Have functions of the notebook find here what did not travel with them.

    Those of modules that are installed here have their module's names, which are the user's.
    """
    own = vars(sys.modules["__main__"])
    for value in values:
        if not isinstance(value, FunctionType) or value.__module__ != "__main__":
            continue
        if value.__globals__ is not own:
            absent = {name for name in names_in(value.__code__) if name not in value.__globals__}
            value.__globals__.update({name: own[name] for name in absent & own.keys()})


def locate_values(code: str, start: bool) -> Data:  # noqa: FBT001  as it is sent
    """Say where the engine's values live; no other engine is asked."""
    names: Namespace = vars(sys.modules["__main__"])
    return _answer(lambda: {"found": locate_here(code, names, start=start)})


def trace_calls(code: str, options: Data, twice: bool) -> Data:  # noqa: FBT001  as it is sent
    """Say which calls of compiled functions are traced here; no other engine is asked."""
    names: Namespace = vars(sys.modules["__main__"])

    def work() -> Data:
        with _interruptible(None):
            return trace_here(code, names, TraceOptions(**options), twice=twice)

    return _answer(work)


def measure_collectives(remeasure: bool, timeout: float) -> Data:  # noqa: FBT001  as it is sent
    """Measure the network of the engine's job, together with the other ranks."""

    def work() -> Data:
        import msgspec

        found = find_job()
        if found is None:
            raise RankError("no job connects these engines")
        with join(*found, timeout, Clock.elapsed()) as rendezvous, _interruptible(rendezvous):
            peaks = measure_network(rendezvous, remeasure=remeasure)
        return {} if peaks is None else {"network": msgspec.to_builtins(peaks)}

    return _answer(work)


def measure_devices(start: bool, remeasure: bool) -> Data:  # noqa: FBT001  as it is sent
    """Measure the devices of this engine alone."""
    import msgspec

    def work() -> Data:
        return {"peaks": msgspec.to_builtins(collect_peaks(start=start, remeasure=remeasure))}

    return _answer(work)


def interrupt() -> None:
    """Have what is measured here end as Ctrl-C does, in threads that no signal reaches."""
    for thread, rendezvous in [*_measuring.items()]:
        if rendezvous is not None:
            rendezvous.interrupts.ask()
        else:
            kind = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)


def _time(
    code: str,
    setup: str | None,
    names: Namespace,
    options: TimeOptions,
    timeout: float,
    *,
    before: str | None = None,
) -> JobMeasurement | Measurement | None:
    """Time code in step with the other ranks, or alone where there are none."""
    snippet = Snippet(Source.plain(code), names)
    prepared = Snippet(Source.plain(setup), names) if setup else None
    begin = Snippet(Source.plain(before), names).run if before else _do_nothing
    found = find_job()
    if found is None:
        with _interruptible(None):
            begin()
            return measure_snippet(snippet, options, setup=prepared)
    with join(*found, timeout, Clock.elapsed()) as rendezvous, _interruptible(rendezvous):
        begin()
        return measure_rank(snippet, options, rendezvous, setup=prepared)


def _do_nothing() -> None:
    pass


@contextmanager
def _interruptible(rendezvous: Rendezvous | None) -> Iterator[None]:
    thread = threading.get_ident()
    _measuring[thread] = rendezvous
    try:
        yield
    finally:
        del _measuring[thread]


def _answer(work: Callable[[], Data]) -> Data:
    """Return what work returns, or in one line what it raised: the error itself stays here."""
    try:
        return work()
    except Interrupted as stopped:
        return {"interrupted": True, **_ranks(stopped.result)}
    except KeyboardInterrupt:
        return {"interrupted": True}
    except IpyJaxBenchError as error:
        told = isinstance(error, RankError)
        return {"failure": str(error) if told else f"failed: {error}", "names_rank": told}
    except CODE_ERRORS as error:
        return {"failure": f"raised {describe_error(error)}"}


def _ranks(measured: object) -> Data:
    """Return what was measured as plain data; nothing where another rank has all of it."""
    import msgspec

    if isinstance(measured, JobMeasurement):
        return {"ranks": msgspec.to_builtins(measured.ranks)}
    if isinstance(measured, Measurement):
        alone = RankMeasurement(0, socket.gethostname(), os.getpid(), measured, facts=facts_here())
        return {"ranks": [msgspec.to_builtins(alone)]}
    return {}
