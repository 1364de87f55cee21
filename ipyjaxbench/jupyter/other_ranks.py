"""What a magic says in a process that is one of many, where the others take no part in it."""

from ipyjaxbench.frameworks import explain_unusable_job, find_job
from ipyjaxbench.jupyter.screen import show
from ipyjaxbench.jupyter.session import Session

_RUNS = "code with collectives waits here until all ranks make the same calls"
#: Magics that look at this process alone, and what follows from that.
_ALONE = {
    "fwcompare": f"each rank decides by itself how often it calls, and {_RUNS}: use %fwtime",
    "trace_cached": f"the cell runs in this rank, and {_RUNS}",
    "jaxpr": "it traces in this rank",
    "explain": "it traces in this rank",
    "loop": f"the loop of this rank is timed, and {_RUNS}",
    "copies": f"the copies of this rank are shown, and {_RUNS}",
    "peak": "ranks of one host that measure at the same time disturb each other",
}
_ALONE["fxgraph"] = _ALONE["tfgraph"] = _ALONE["jaxpr"]


def note_other_ranks(session: Session, name: str, options: object, *, is_cell: bool) -> None:
    """Say once for each magic that only this rank takes part; nothing where it is alone.

    Args:
        session: in which it is said once.
        name: of the magic.
        options: of the magic; those that name engines say where it runs.
        is_cell: whether it stands above a cell.
    """
    name = _what_runs(name, options, is_cell=is_cell)
    if name in session.noted_ranks or getattr(options, "engines", None):
        return
    line = _describe_unusable_job() if name == "fwtime" else _describe_alone(name)
    if line:
        session.noted_ranks.add(name)
        show({"text/plain": line}, raw=True)


def _what_runs(name: str, options: object, *, is_cell: bool) -> str:
    """Return what a magic does here: its name, but for what is not its usual work."""
    if name == "fwtime" and getattr(options, "loop", False):
        return "loop"
    if name == "fwdevices":
        return "peak" if getattr(options, "peak", False) else "copies" if is_cell else name
    return name


def _describe_alone(name: str) -> str:
    found = find_job() if name in _ALONE else None
    if found is None:
        return ""
    _, job = found
    return f"rank {job.rank} of {job.size}: {_ALONE[name]}."


def _describe_unusable_job() -> str:
    """Say why a measurement in which all ranks should take part is made in this one alone."""
    reason = explain_unusable_job()
    return f"one rank of many is timed alone, since {reason}: {_RUNS}." if reason else ""
