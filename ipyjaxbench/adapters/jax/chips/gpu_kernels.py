"""The kernels of a program that XLA has compiled for a GPU, by the text of the program."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ipyjaxbench.adapters.jax.chips.roofline import FULL_FLOAT32

_COMPUTATION = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(
    r"^\s+(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = (?P<gives>\(.*?\)|\S+) (?P<operation>[\w\-]+)"
    r"\((?P<operands>[^)]*)\)(?P<rest>.*)$"
)
_ARRAY = re.compile(r"\b([a-z]+\d*\w*)\[([\d,]*)\]")
_BITS = re.compile(r"\d+")
_NAME = re.compile(r"%([\w.\-]+)")
_CALLS = re.compile(r"(?:calls|to_apply|body)=%([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}|(?:true|false)_computation=(%[\w.\-]+)")
_TURNS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_CONTRACTED = re.compile(r"lhs_contracting_dim(?:s|ension)s?\"?[=:][{\[]([\d,\"]*)[}\]]")
_LABELS = re.compile(r"dim_labels=\w+_(?P<weights>\w+)->")
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
_MADE_BY = re.compile(r'op_name="[^"]*/([^"/()]+)"')
#: They start nothing on the GPU, or only what others wait for.
_FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all",
    "opt-barrier", "optimization-barrier", "partition-id", "replica-id", "domain",
}  # fmt: skip
_COLLECTIVE = re.compile(r"(all-|reduce-scatter|collective-|ragged-|send|recv)|.*-(done|update)$")
#: They read of an operand only what they give.
_PARTIAL = {"dynamic-slice", "slice", "gather"}
_DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "s8": "int8",
    "u8": "uint8", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "c64": "float32", "c128": "float64",
}  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """What one launch does; with ``times``, what it does so often.

    Attributes:
        name: of the instruction.
        does: the operations of JAX that are in it, the last one first.
        library: the function of a library that it calls; "" for a fusion or another kernel.
        times: how often it runs.
        flops: of its products, by dtype.
        nbytes: that it reads and writes.
    """

    name: str
    does: tuple[str, ...]
    library: str
    times: int
    flops: Mapping[str, float]
    nbytes: int


class _Instruction(NamedTuple):
    name: str
    gives: str
    operation: str
    arguments: str
    rest: str
    is_root: bool

    @property
    def operands(self) -> list[str]:
        """The names of its operands."""
        return _NAME.findall(self.arguments)

    @property
    def nbytes(self) -> int:
        """Bytes of what it gives."""
        return sum(_nbytes(*array) for array in _ARRAY.findall(self.gives))


def kernels_in(hlo: str) -> tuple[tuple[Launch, ...], bool]:
    r"""Return the kernels of an optimized program's text, and whether a loop's length is unknown.

    Kernels in a loop run as often as the loop turns, where XLA knows that; else they count once.
    Of a condition's branches the one that moves most bytes counts.

    Example:
        >>> text = "ENTRY %main (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n"
        >>> (kernel,), _ = kernels_in(text + "  ROOT %c = f32[4] copy(%p)\n}")
        >>> kernel.name, kernel.nbytes
        ('c', 32)
    """
    computations, entry = _read(hlo)
    program = _Program(computations)
    return tuple(program.kernels(entry, 1)), program.has_unknown_loops


def _read(hlo: str) -> tuple[dict[str, list[_Instruction]], str]:
    computations: dict[str, list[_Instruction]] = {}
    entry, current = "", list[_Instruction]()
    for line in hlo.splitlines():
        if header := _COMPUTATION.match(line):
            current = computations[header["name"]] = []
            entry = header["name"] if header["entry"] else entry
        elif found := _INSTRUCTION.match(line):
            name, gives, operation, arguments, rest = found.group(
                "name", "gives", "operation", "operands", "rest"
            )
            is_root = found["root"] is not None
            current.append(_Instruction(name, gives, operation, arguments, rest, is_root))
    return computations, entry


class _Program:
    """Walks through the computations that a program launches."""

    def __init__(self, computations: Mapping[str, list[_Instruction]]) -> None:
        self._computations = computations
        self.has_unknown_loops = False

    def kernels(self, computation: str, times: int) -> Iterator[Launch]:
        """Yield what a computation launches so often."""
        instructions = self._computations.get(computation, [])
        sizes = {each.name: each for each in instructions}
        for each in instructions:
            if each.operation == "while":
                yield from self._loop(each, times)
            elif each.operation in ("conditional", "call", "async-start"):
                yield from self._branch(each, times)
            elif each.operation not in _FREE and not _COLLECTIVE.match(each.operation):
                yield replace(self._kernel(each, sizes), times=times)

    def _loop(self, each: _Instruction, times: int) -> Iterator[Launch]:
        turns = _TURNS.search(each.rest)
        self.has_unknown_loops |= turns is None
        for body in _CALLS.findall(each.rest):
            yield from self.kernels(body, times * int(turns[1] if turns else 1))

    def _branch(self, each: _Instruction, times: int) -> Sequence[Launch]:
        names = _CALLS.findall(each.rest)
        names += [name for found in _BRANCHES.findall(each.rest)
                  for name in _NAME.findall(" ".join(found))]  # fmt: skip
        branches = [tuple(self.kernels(name, times)) for name in names]
        return max(branches, key=lambda own: sum(k.nbytes * k.times for k in own), default=())

    def _kernel(self, each: _Instruction, sizes: Mapping[str, _Instruction]) -> Launch:
        inside = [
            one for name in _CALLS.findall(each.rest) for one in self._computations.get(name, [])
        ]
        is_fusion = each.operation == "fusion"
        made = [found[1] for one in (each, *reversed(inside)) if (found := _made_by(one))]
        flops: dict[str, float] = {}
        own = {one.name: one for one in inside}
        for one in (*inside, each):
            dtype, count = _product(one, own if one in inside else sizes)
            if count:
                flops[dtype] = flops.get(dtype, 0.0) + count
        library = _TARGET.search(each.rest)
        moved = _moved(each, sizes, inside if is_fusion else [])
        return Launch(each.name, tuple(dict.fromkeys(made)), library[1] if library else "", 1,
                      flops, moved)  # fmt: skip


def _made_by(each: _Instruction) -> re.Match[str] | None:
    return _MADE_BY.search(each.rest)


def _moved(
    each: _Instruction, sizes: Mapping[str, _Instruction], inside: Sequence[_Instruction]
) -> int:
    """Return the bytes that a kernel reads and writes; each operand counts once."""
    by_name = {one.name: one for one in inside}
    root = next((one for one in inside if one.is_root), None)
    written = each.nbytes
    if root is not None and root.operation == "dynamic-update-slice":  # in place
        written = by_name[root.operands[1]].nbytes
    parts = {int(one.arguments): _read_of(one, inside) for one in inside
             if one.operation == "parameter"}  # fmt: skip
    read: dict[str, float] = {}
    for place, name in enumerate(each.operands):
        if name in sizes:
            whole = sizes[name].nbytes
            read[name] = max(read.get(name, 0), min(parts.get(place, whole), whole))
    return int(sum(read.values())) + written


def _read_of(parameter: _Instruction, inside: Sequence[_Instruction]) -> float:
    """Return the bytes of a parameter that a fusion reads: infinite for all of it."""
    read = 0.0
    for one in inside:
        for place, name in enumerate(one.operands):
            if name != parameter.name:
                continue
            if place == 0 and one.operation in _PARTIAL:
                read += one.nbytes
            elif not (place == 0 and one.operation == "dynamic-update-slice"):
                return math.inf
    return read


def _product(each: _Instruction, known: Mapping[str, _Instruction]) -> tuple[str, float]:
    """Return the dtype and the FLOP of a product: one of XLA's, of cuBLAS or of cuDNN."""
    is_library = each.operation == "custom-call"
    target = _TARGET.search(each.rest) if is_library else None
    name = target[1] if target else each.operation
    operands = [known[operand] for operand in each.operands if operand in known]
    arrays = [_ARRAY.findall(one.gives) for one in (each, *operands[:2])]
    if len(arrays) < 3 or not all(arrays):  # calls of Python, too, may give nothing: ()
        return "", 0.0
    (_, given), (dtype, left), (_, right) = (found[0] for found in arrays)
    if name == "dot" or "gemm" in name or "matmul" in name:
        found = _CONTRACTED.search(each.rest)
        axes = [int(axis) for axis in _BITS.findall(found[1])] if found else []
        inner = math.prod(_shape(left)[axis] for axis in axes)
    elif name == "convolution" or "conv" in name.lower():
        labels = _LABELS.search(each.rest)
        if labels is None:
            return "", 0.0
        inner = math.prod(_shape(right)) // max(_shape(right)[labels["weights"].index("o")], 1)
    else:
        return "", 0.0
    dtype = _DTYPES.get(dtype, dtype)
    if dtype == "float32" and "highest" in each.rest:
        dtype = FULL_FLOAT32
    return dtype, 2.0 * math.prod(_shape(given)) * inner


def _shape(text: str) -> list[int]:
    return [int(size) for size in text.split(",") if size]


def _nbytes(dtype: str, shape: str) -> int:
    bits = _BITS.search(dtype)
    return (max(int(bits[0]), 8) // 8 if bits else 1) * math.prod(_shape(shape))
