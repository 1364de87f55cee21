"""Times code on engines, and merges what they measured."""

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

from ipyjaxbench.cluster import on_engine
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.members import Members
from ipyjaxbench.cluster.output import join_printed
from ipyjaxbench.errors import CODE_ERRORS, Interrupted, OptionError
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode import Namespace, describe_error


def _ignore(_: str) -> None:
    pass


def time_on_engines(
    members: Members,
    code: str,
    setup: str | None,
    options: TimeOptions,
    timeout: float,
    *,
    on_printed: Callable[[str], object] = _ignore,
) -> JobMeasurement:
    """Time code on all engines at once; in step where they are ranks of one job.

    What the first call printed there is handed to ``on_printed``.

    Raises:
        RankError: an engine failed; the message names it.
        Interrupted: the user ended it; it holds what was measured until then.
    """
    __tracebackhide__ = True
    sent = (code, setup, dataclasses.asdict(options), timeout)
    return merge_timed(members, code, on_engine.time_code, sent, on_printed)


def time_call_on_engines(
    members: Members, code: str, names: Namespace, options: TimeOptions, timeout: float
) -> JobMeasurement:
    """Time a call on all engines at once; its function and its arguments are sent.

    Raises:
        RankError: an engine failed; the message names it.
        Interrupted: the user ended it; it holds what was measured until then.
    """
    __tracebackhide__ = True
    sent = (code, _pickled(names), dataclasses.asdict(options), timeout)
    return merge_timed(members, code, on_engine.time_call, sent)


def _pickled(names: Namespace) -> Namespace | bytes:
    """Return a function and its arguments with what they read, where cloudpickle is installed.

    Raises:
        OptionError: they cannot be pickled.
    """
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:  # the engines' client then sends what it can
        return names
    try:
        pickled: bytes = cloudpickle.dumps(names)
    except CODE_ERRORS as error:
        raise OptionError(
            f"the call cannot be sent to engines: {describe_error(error)}. Define what it needs on"
            " the engines, and time it with %fwtime --engines all"
        ) from None
    return pickled


def merge_timed(
    members: Members,
    code: str,
    function: Callable[..., Any],
    sent: tuple[Any, ...],
    on_printed: Callable[[str], object] = _ignore,
) -> JobMeasurement:
    """Have all engines call a function of `on_engine` that times code, and merge what they found.

    Raises:
        RankError: an engine failed; the message names it.
        Interrupted: the user ended it; it holds what was measured until then.
    """
    __tracebackhide__ = True
    try:
        answers = members.call(function, *sent)
    except Interrupted as stopped:
        on_printed(_printed(members, stopped.result))
        stopped.result = _merge(members, code, stopped.result)
        raise
    on_printed(_printed(members, answers))
    return _merge(members, code, answers)


def _printed(members: Members, answers: Any) -> str:
    return join_printed(members.labels, [answer.get("printed", "") for answer in answers])


def _merge(members: Members, code: str, answers: Any) -> JobMeasurement:
    import msgspec

    labelled = zip(members.labels, answers, strict=True)
    found = [(label, rank) for label, answer in labelled for rank in answer.get("ranks", ())]
    ranks = tuple(msgspec.convert(rank, RankMeasurement) for _, rank in found)
    if members.job:
        return JobMeasurement(code.strip(), ranks, members.job)
    ranks = tuple(dataclasses.replace(each, rank=i) for i, each in enumerate(ranks))
    return JobMeasurement(code.strip(), ranks, names=tuple(label for label, _ in found))


def refuse_options(options: TimeOptions, alone: str = "without --engines") -> None:
    """Refuse what times one process alone; ``alone`` says how that is typed."""
    for name in ("fresh", "trace", "profile", "energy", "cold", "memory", "against"):
        if getattr(options, name):
            raise OptionError(f"--{name} works in one process alone, {alone}")
