"""What a rank runs on: what should be the same in all of them, and often is not."""

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ipyjaxbench.cluster.rank_names import name_ranks
from ipyjaxbench.device import DeviceInventory
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.record_types import NonNegativeInt

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class RankFacts:
    """What a rank runs on.

    Attributes:
        versions: of Python and of the frameworks that the rank has imported.
        devices: how many devices of its own the rank has, by kind; empty where none is started.
        cpus: how many CPUs the process may use.
        threads: threads per operation on the CPU, by framework; empty where unknown.
        boot: what the system calls its last start: processes that share it share a clock; "" where
            that is unknown.
    """

    versions: dict[str, str]
    devices: dict[str, NonNegativeInt]
    cpus: NonNegativeInt
    threads: dict[str, NonNegativeInt]
    boot: str = ""


def facts_here() -> RankFacts:
    """Return what this process runs on; nothing is started for it."""
    versions, devices, threads = {"Python": platform.python_version()}, dict[str, int](), {}
    for framework in loaded()[0]:
        versions[framework.name] = framework.version()
        inventory = framework.capability(DeviceInventory)
        if not framework.started():
            continue
        for device in inventory.devices().devices:
            kind = f"{framework.name} {device.kind}"
            devices[kind] = devices.get(kind, 0) + 1
        if (number := inventory.threads()) is not None:
            threads[framework.name] = number
    return RankFacts(versions, devices, _cpus(), threads, _boot())


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _boot() -> str:
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:  # no Linux
        return ""


def describe_differing(ranks: Sequence[tuple[str, RankFacts]]) -> Iterator[str]:
    """Yield a sentence for each fact that not all ranks share.

    Example:
        >>> two, four = (RankFacts({"jax": "0.10.2"}, {}, cpus, {}) for cpus in (2, 4))
        >>> [*describe_differing([("rank 0", two), ("rank 1", two), ("rank 2", four)])]
        ['CPUs differ: 2 in rank 0,1, 4 in rank 2.']
    """
    names = dict.fromkeys(name for _, each in ranks for name in each.versions)
    for name in names:
        yield from differ(f"{name} differs", [(r, f.versions.get(name, "none")) for r, f in ranks])
    kinds = dict.fromkeys(kind for _, each in ranks for kind in each.devices)
    for kind in kinds:
        own = [(rank, str(each.devices.get(kind, 0))) for rank, each in ranks]
        yield from differ(f"{kind} devices differ", own)
    yield from differ("CPUs differ", [(rank, str(each.cpus)) for rank, each in ranks])
    for name in dict.fromkeys(name for _, each in ranks for name in each.threads):
        counts = [(rank, str(each.threads.get(name, "unknown"))) for rank, each in ranks]
        yield from differ(f"threads of {name} differ", counts)


def differ(what: str, values: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence where values are not all the same; the most frequent one comes first."""
    labels: dict[str, list[str]] = {}
    for label, value in values:
        labels.setdefault(value, []).append(label)
    if len(labels) > 1:
        frequent = sorted(labels.items(), key=lambda item: -len(item[1]))
        yield f"{what}: {', '.join(f'{v} in {name_ranks(own)}' for v, own in frequent)}."
