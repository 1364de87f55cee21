"""Engines that do the same together: ranks of one job, or each by itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.cluster import on_engine
from ipyjaxbench.cluster.dispatch import INTERRUPTED, Answer, Dispatch
from ipyjaxbench.cluster.engines import Engines
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.errors import Interrupted, OptionError

_MAX_NAMED = 3


@dataclass(frozen=True)
class Members:
    """Engines, and what they are to each other.

    Attributes:
        engines: those of one job in the order of their ranks.
        job: the framework that connects them; "" where each runs by itself.
        labels: what each is called in reports: "rank 0", or "engine 0".
        hosts: the machine of each.
        pids: the process of each.
    """

    engines: Engines
    job: str
    labels: tuple[str, ...]
    hosts: tuple[str, ...]
    pids: tuple[int, ...]

    def first(self, number: int) -> "Members":
        """Return so many of them, from the first on."""
        parts = (self.labels[:number], self.hosts[:number], self.pids[:number])
        return Members(self.engines.choose(range(number)), self.job, *parts)

    def call(self, function: Callable[..., Any], *args: Any, meeting: bool = True) -> list[Any]:
        """Have all engines call a function, and return what they return.

        Args:
            function: what each calls.
            args: of its call.
            meeting: whether ranks of a job meet in it, led by rank 0; else each is by itself.

        Raises:
            RankError: one failed; the message names it, and it holds the answers of all.
            KeyboardInterrupt: the user ended it; it holds as ``result`` what there was until then.
        """
        __tracebackhide__ = True
        dispatch = Dispatch(self.engines, function, [args] * len(self.engines))
        try:
            answers = dispatch.wait(all_or_none=bool(self.job), led=meeting and bool(self.job))
        except KeyboardInterrupt as stopped:
            answers = [dispatch.answers.get(index, Answer()) for index in range(len(self.engines))]
            values = [answer.value or {} for answer in answers]
            if any(value.keys() - {"interrupted", "failure", "printed"} for value in values):
                raise Interrupted(values, stopped) from None
            raise
        try:
            self._refuse_failures(dispatch.answers)
        except RankError as failed:
            failed.answers = [answer.value or {"failure": answer.failure} for answer in answers]
            raise
        return [answer.value for answer in answers]

    def choose(self, indices: Sequence[int]) -> "Members":
        """Return some of them, each by itself, by their places among these."""
        return Members(
            self.engines.choose(indices),
            "",
            tuple(self.labels[index] for index in indices),
            tuple(self.hosts[index] for index in indices),
            tuple(self.pids[index] for index in indices),
        )

    def _refuse_failures(self, answers: Mapping[int, Answer]) -> None:
        """Raise what failed first, and where; ranks that were told of it by another say less."""
        names, own, told = self._named(), dict[str, list[int]](), list[str]()
        for index, answer in answers.items():
            if answer.value and answer.value.get("names_rank"):
                told.append(answer.failure)
            elif answer.failure:
                own.setdefault(answer.failure, []).append(index)
        if len(own) > 1:  # some were interrupted since others had failed
            own.pop(INTERRUPTED, None)
        if own:
            who = (_some([names[index] for index in sorted(failed)]) for failed in own.values())
            raise RankError(". ".join(map(" ".join, zip(who, own, strict=True))) + ".")
        if told:
            raise RankError(told[0])

    def _named(self) -> list[str]:
        """Return what each is called in errors."""
        both = zip(self.labels, self.engines.labels, self.hosts, strict=True)
        return [
            f"{label} ({engine} on {host})" if self.job else f"{label} (on {host})"
            for label, engine, host in both
        ]


def _some(names: list[str]) -> str:
    """Return a few of the names, and how many more there are."""
    shown, more = ", ".join(names[:_MAX_NAMED]), len(names) - _MAX_NAMED
    return f"{shown} and {units.count(more, 'other')}" if more > 0 else shown


def find_members(engines: Engines, timeout: float) -> Members:
    """Ask engines where they run and which job connects them.

    Raises:
        RankError: one is busy or dead, lacks this package, or is of another job.
        OptionError: there is no time to wait for them.
    """
    if not timeout:
        raise OptionError("--timeout 0 times one rank alone: leave it out with --engines")
    dispatch = Dispatch(engines, on_engine.describe, [()] * len(engines))
    answers = dispatch.wait(timeout)
    for label, answer in zip(engines.labels, answers, strict=True):
        if failure := answer.failure:
            equal = [
                one
                for one, other in zip(engines.labels, answers, strict=True)
                if other.failure == failure
            ]
            raise RankError(f"{_some(equal)} {_explain(failure)}.")
        if (other := answer.value["version"]) != (own := on_engine.version()):
            raise RankError(f"{label} has ipyjaxbench {other}, not {own}. Install it there, too.")
        if answer.value.get("reason"):
            raise RankError(f"{label} is one of many, but {answer.value['reason']}.")
    members = _sorted([answer.value for answer in answers], engines)
    if members.job:
        _refuse_other_jobs(members.engines, timeout)
    return members


def _refuse_other_jobs(engines: Engines, timeout: float) -> None:
    """Raise where ranks that are all there are not those of one job: they would never meet."""
    names = Dispatch(engines, on_engine.name_job, [()] * len(engines)).wait(timeout)
    for index, answer in enumerate(names):
        if answer.failure or answer.value != names[0].value:
            other = f"is rank {index} of another job than {engines.labels[0]}"
            raise RankError(
                f"{engines.labels[index]} {answer.failure or other}. Choose all ranks of one job."
            )


def _explain(failure: str) -> str:
    if "ModuleNotFoundError" in failure and "ipyjaxbench" in failure:
        return "cannot import ipyjaxbench of this version. Install it there, as here"
    if failure.startswith("did not answer"):
        return f"{failure}: busy, or cut off. --timeout 300 waits longer"
    return failure


def _sorted(facts: list[dict[str, Any]], engines: Engines) -> Members:
    """Return engines in the order of their ranks; all ranks of one job, or each by itself."""
    label = dict(enumerate(engines.labels))
    jobs = {fact["job"] for fact in facts}
    job = facts[0]["job"]
    if len(jobs) > 1:
        other = next(i for i, fact in enumerate(facts) if fact["job"] != job)
        said = [f"one of many in {fact['job']}" if fact["job"] else "alone" for fact in facts]
        raise RankError(
            f"{label[0]} is {said[0]}, {label[other]} is {said[other]}. Choose"
            " all ranks of one job, or engines that run alone."
        )
    order = [*range(len(facts))]
    if job:
        order.sort(key=lambda index: facts[index]["rank"])
        ranks, size = [facts[index]["rank"] for index in order], facts[0]["size"]
        if len(set(ranks)) < len(ranks):
            raise RankError(
                f"two engines are rank {max(ranks, key=ranks.count)} of different jobs. Choose all"
                " ranks of one job."
            )
        if len(ranks) < size:
            absent = next(rank for rank in range(size) if rank not in ranks)
            raise RankError(
                f"the job has {size} ranks, and rank {absent} is not among these engines: it was"
                " left out or has died. All ranks must take part."
            )
    chosen = engines.choose(order)
    return Members(
        chosen,
        job,
        tuple(f"rank {index}" for index in range(len(order))) if job else chosen.labels,
        tuple(facts[index]["host"] for index in order),
        tuple(facts[index]["pid"] for index in order),
    )
