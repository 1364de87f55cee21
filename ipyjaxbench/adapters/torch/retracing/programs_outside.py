"""Programs that were compiled outside of the calls that are looked at."""

from collections.abc import Iterable, Mapping

from ipyjaxbench.adapters.torch.compile_events import Entry, phases_of
from ipyjaxbench.adapters.torch.retracing import lazy_backward
from ipyjaxbench.adapters.torch.retracing.frames import attribute, name_of
from ipyjaxbench.adapters.torch.retracing.told_programs import is_told
from ipyjaxbench.frameworks import Program


def programs_outside(
    all_entries: Iterable[Entry], others: Iterable[Entry], known: Mapping[object, str]
) -> tuple[Program, ...]:
    """Return backward passes, and functions called from code that is not looked into.

    Args:
        all_entries: of dynamo's record.
        others: those of no call.
        known: names of what was compiled, by dynamo's numbers.
    """
    frames = (entry.metrics for entry in all_entries if attribute(entry.metrics, "co_name"))
    names = {attribute(each, "compile_id"): name_of(each) for each in frames} | dict(known)
    programs = []
    for entry in (other.metrics for other in others):
        number, is_frame = attribute(entry, "compile_id"), bool(attribute(entry, "co_name"))
        is_failed = attribute(entry, "fail_type") and not attribute(entry, "graph_op_count")
        if is_failed or is_told(number, backward=not is_frame):
            continue
        frame = names.get(number) or lazy_backward.forward_name(number)
        name = frame if is_frame else f"{frame} backward"
        seconds = sum(phases_of([entry]).values())
        programs.append(Program(name, seconds, "compiled", "torch"))
    return tuple(programs)
