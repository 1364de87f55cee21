"""What chips would make of a program, as their own compilers say on any machine."""

import base64
import importlib.util
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax

from ipyjaxbench.adapters.jax.chips import compile_remote
from ipyjaxbench.adapters.jax.chips.find_chips import find_chips
from ipyjaxbench.adapters.jax.chips.input_sharding import Layout, is_named, layout, own_layout
from ipyjaxbench.adapters.jax.chips.roofline import Roof
from ipyjaxbench.adapters.jax.chips.topology import Topology
from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.adapters.jax.graphs.stages import LiveProgram
from ipyjaxbench.adapters.jax.graphs.tracing import Traced
from ipyjaxbench.adapters.jax.placement import is_host, platform_of
from ipyjaxbench.errors import MissingLibraryError, OptionError
from ipyjaxbench.graphs import Collective, Estimate, Kernel, Kernels, notes
from ipyjaxbench.reports import Note

_TOO_LARGE = re.compile(r"RESOURCE_EXHAUSTED|[Rr]an out of memory")
_USED = re.compile(r"(?:Used |\()([\d.]+)([KMGT])\)? (?:of|exceeds)")
_LIMIT = re.compile(r"(?:HBM \(| of )([\d.]+)([KMGT])")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
#: By platform: the library that holds its compiler, and the extra that installs it.
_COMPILERS = {"tpu": ("libtpu", "tpu"), "cuda": ("jax-cuda12-plugin", "gpu")}
_PLUGINS = ("jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13")
_MAX_KERNELS = 20  # that are kept of a program
_PADDED, _PART = 2**20, 0.1  # bytes, and part of the data, from which padding is worth a Note


def estimates(
    live: LiveProgram, traced: Traced, on: Sequence[str], shard: Sequence[tuple[str, int]]
) -> tuple[tuple[Estimate, ...], tuple[Note, ...]]:
    """Return what the compiler of each chip says, this machine's last; nothing is computed.

    Args:
        live: the program, for what the compiler of this machine says.
        traced: the same.
        on: such as "tpu:v5e" or "gpu:h100"; "tpu:v5e:2x2" or "gpu:h100x4" for several.
        shard: inputs with the axis that is cut into a part for each of several chips.

    Raises:
        OptionError: a chip is not known, or what is to be cut cannot be.
        MissingLibraryError: the compiler of a chip is not installed.
    """
    topologies = [find_chips(name) for name in on]
    if shard and all(topology.devices == 1 for topology in topologies):
        raise OptionError(f"--shard needs several chips, as in --on {topologies[0].several}")
    own = own_layout(traced) if not shard else None
    layouts = [layout(traced, shard, topology, own) for topology in topologies]
    for platform in dict.fromkeys(topology.platform for topology in topologies):
        if not _has_compiler(platform):
            raise MissingLibraryError(*_COMPILERS[platform])
    answers = _answers(traced, topologies, layouts)
    estimated = tuple(_estimate(t, one) for t, one in zip(topologies, answers, strict=True))
    return (*estimated, estimate_here(live)), (*_notes(topologies, layouts, answers),)


def _has_compiler(platform: str) -> bool:
    """Whether a compiler can be found; nothing is imported but the folder of JAX's plugins."""
    names = ("libtpu",) if platform == "tpu" else _PLUGINS
    return any(_find(name) for name in names)


def _find(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # no folder of plugins
        return False


def estimate_here(live: LiveProgram) -> Estimate:
    """Return what XLA says of a program on this machine, where time can be measured."""
    default = jax.config.jax_default_device
    device = default if isinstance(default, jax.Device) else jax.local_devices(backend=default)[0]
    chip, limit = f"here ({platform_of(device)})", _memory_of(device)
    try:
        xla = live.compiled()
    except Exception as error:  # noqa: BLE001  such as a kernel that is written for TPUs
        return Estimate(chip, limit=limit, error=compile_remote.error_line(error))
    if xla is None:
        return Estimate(chip, limit=limit, error="the compiler gives no counts")
    collectives = xla.collectives
    return Estimate(chip, None, xla.flops, xla.moved, xla.memory, limit, collectives=collectives)


def _memory_of(device: Any) -> int:
    if not is_host(device):
        return int((device.memory_stats() or {}).get("bytes_limit", 0))
    import psutil

    return int(psutil.virtual_memory().total)


def _answers(
    traced: Traced, topologies: Sequence[Topology], layouts: Sequence[Layout]
) -> list[dict[str, Any]]:
    """Return what the worker says of each, or why it was not asked."""
    kinds = [(t.platform, each.is_own) for each, t in zip(layouts, topologies, strict=True)]
    exported = {
        (platform, is_own): _exported(traced, platform, is_own=is_own)
        for platform, is_own in dict.fromkeys(kinds)
    }
    answers = [_refused(exported[kind], t) for kind, t in zip(kinds, topologies, strict=True)]
    requests = {
        i: {
            "program": base64.b64encode(exported[kinds[i]].serialize()).decode(),
            "platform": topologies[i].platform,
            "topology": topologies[i].compiler,
            "arguments": topologies[i].arguments,
            "mesh": layouts[i].mesh,
            "specs": layouts[i].specs,
        }
        for i, refused in enumerate(answers)
        if not refused
    }
    received = compile_remote.answers([*requests.values()])
    for i, answer in zip(requests, received, strict=True):
        answers[i] = answer | {"placed": exported[kinds[i]].nr_devices > 1}
    return answers


def _exported(traced: Traced, platform: str, *, is_own: bool) -> Any:
    """Return the program for a platform, or why there is none.

    It is one of arrays alone: trees would have to be known on the other side.
    """
    inside = {each.primitive.name for each in program.equations_of(traced.closed.jaxpr)}
    called_back = sorted(name for name in inside if "callback" in name or name == "debug_print")
    if called_back:
        return f"the program calls back into Python ({', '.join(called_back)}): remove that"
    wrapper, args, kwargs = traced.call
    tree = jax.tree.structure((tuple(args), dict(kwargs)))

    def flat(*arrays: Any) -> Any:
        positional, named = jax.tree.unflatten(tree, arrays)
        return jax.tree.leaves(wrapper(*positional, **named))

    places = [getattr(value, "sharding", None) for value in traced.values]
    places = [place if is_own and is_named(place) else None for place in places]
    leaves = [
        jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type, sharding=place)
        for a, place in zip(traced.closed.in_avals, places, strict=True)
    ]
    try:
        from jax import export  # old versions ask for absl here, which they do not install

        return export.export(jax.jit(flat), platforms=[platform])(*leaves)
    except Exception as error:  # noqa: BLE001  not all that can be traced can be taken elsewhere
        return compile_remote.error_line(error)


def _refused(exported: Any, topology: Topology) -> dict[str, Any]:
    if isinstance(exported, str):
        return {"error": exported}
    if exported.nr_devices in (1, topology.devices):
        return {}
    return {
        "error": f"the program is sharded over {exported.nr_devices} devices, and"
        f" {topology.name} has {topology.devices}; use as many chips"
    }


def _estimate(topology: Topology, answer: dict[str, Any]) -> Estimate:
    error = answer.get("error", "")
    if error:
        shown = "" if _TOO_LARGE.search(error) else compile_remote.error_line(error)
        needed, available = _bytes(_USED.search(error)), _bytes(_LIMIT.search(error))
        limit = available or topology.memory
        return Estimate(topology.name, memory=needed, limit=limit, error=shown)
    found = Estimate(
        topology.name,
        answer["seconds"],
        answer["flops"],
        answer["moved"],
        int(answer["memory"]),
        topology.memory,
        padding=_padding(answer),
        collectives=tuple(Collective(*each) for each in answer["collectives"]),
    )
    return found if topology.roof is None else _bound(found, topology.roof, answer)


def _bound(found: Estimate, roof: Roof, answer: dict[str, Any]) -> Estimate:
    """Return an estimate with the least time by the peaks of the chip, and its kernels.

    Products take their dtype's peak, arguments and results the bandwidth of the memory: what lies
    between them may stay in a cache.
    """
    products: Counter[str] = Counter()
    kernels = []
    for each in answer["kernels"]:
        times, flops, nbytes = each["times"], each["flops"], each["nbytes"]
        products.update({dtype: times * count for dtype, count in flops.items()})
        seconds = times * roof.seconds(flops, nbytes)
        kernels.append(
            Kernel(each["name"], tuple(each["does"]), each["library"], times,
                   times * sum(flops.values()), times * nbytes, seconds)
        )  # fmt: skip
    kernels.sort(key=lambda kernel: -kernel.seconds)
    return replace(
        found,
        seconds=roof.seconds(products, answer["held"]),
        flops=float(sum(products.values())),
        moved=float(sum(kernel.nbytes for kernel in kernels)),
        padding=0,
        kernels=Kernels(
            tuple(kernels[:_MAX_KERNELS]),
            launches=sum(kernel.times for kernel in kernels),
            libraries=sum(kernel.times for kernel in kernels if kernel.library),
            seconds=sum(kernel.seconds for kernel in kernels),
        ),
    )


def _bytes(match: re.Match[str] | None) -> int:
    return int(float(match[1]) * _UNITS[match[2]]) if match else 0


def _padding(answer: dict[str, Any]) -> int:
    return max(int(answer["held"] - answer["real"]), 0)


def _notes(
    topologies: Sequence[Topology], layouts: Sequence[Layout], answers: Sequence[dict[str, Any]]
) -> Iterator[Note]:
    """Say what to know of the estimates, each thing once."""
    rows = list(zip(topologies, layouts, answers, strict=True))
    known = [each for each in rows if "error" not in each[-1]]
    idle = [t for t, each, one in known if t.devices > 1 and not (each.is_cut or one["placed"])]
    if idle:
        yield notes.nothing_cut(idle[0].name, idle[0].devices)
    whole = [(each.whole, t.devices) for t, each, _ in known if each.whole]
    if whole:
        yield notes.stays_whole(*whole[0])
    if any(one["loops"] for *_, one in known):
        yield notes.loops_once()
    unknown = sorted({name for *_, one in known for name in one["unknown"]})
    if unknown:
        yield notes.no_estimate(unknown)
    wasted = [(_padding(one), one["held"], t.name) for t, _, one in known if t.roof is None]
    large = [each for each in wasted if each[0] > max(_PADDED, _PART * each[1])]
    if large:
        yield notes.padded(*max(large))
    if any(t.roof is not None and one["memory"] <= t.memory for t, _, one in known):
        yield notes.roofline_bound()
    halves = [t.name for t in topologies if t.halves]
    if halves:
        yield notes.half_chips(halves)
