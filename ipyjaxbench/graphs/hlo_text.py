"""The text of an optimized program: its instructions, counted; and without what only names them.

Two processes number the same program's instructions, computations and channels differently: that
is no difference between programs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ipyjaxbench.graphs.hlo_collectives import bytes_of_type, collectives_in

_DEFINED = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = (?P<rest>.*)$")
_OPCODE = re.compile(r"([\w\-]+)\(")
_HEADER = re.compile(r"^(?:ENTRY )?%?(?P<name>[\w.\-]+) \(.*\{$")
_KIND = re.compile(r"\bkind=k(\w+)")
_TARGET = re.compile(r'\bcustom_call_target="([^"]*)"')
_INSIDE = re.compile(r"\b(?:calls|to_apply)=%?([\w.\-]+)")
#: Of these nothing is written: they name what is there.
_WRITES_NOTHING = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}

_NAME = re.compile(r"%[\w.\-]+")
_NUMBERS = re.compile(r"([._]\d+)+$|(\.\d+)+")
_PARAMETER = re.compile(r"(?<=[(,])( ?)[\w.\-]+: ")
_MODULE = re.compile(r"^HloModule [^,\n]*")
_CHANNEL = re.compile(r"\bchannel_id=(\d+)")
_ORIGIN = re.compile(r", (?:origin|original_value)=\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
#: What stands for a large constant, whose numbers the text leaves out.
ELIDED = "constant({...})"


class Instruction(NamedTuple):
    """One instruction."""

    computation: str  # that it stands in
    opcode: str
    gives: str  # its type
    text: str  # the opcode, its operands and attributes


def instructions(hlo: str) -> Iterator[Instruction]:
    """Yield the instructions of a program's text, computation by computation."""
    computation = ""
    for line in hlo.splitlines():
        if header := _HEADER.match(line):
            computation = header["name"]
        elif defined := _DEFINED.match(line):
            gives, text = _split_type(defined["rest"])
            if opcode := _OPCODE.match(text):
                yield Instruction(computation, opcode[1], gives, text)


def _split_type(rest: str) -> tuple[str, str]:
    """Return the type in front, which may be a tuple of tuples, and what follows."""
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if letter == " " and not depth:
            return rest[:place], rest[place + 1 :]
    return rest, ""


def count_program(hlo: str) -> dict[tuple[str, str], int]:
    r"""Count what an optimized program consists of.

    Returns:
        By kind and name: the collectives with their bytes on each device, the fusions of each
        kind, the calls of each library, all opcodes, and the bytes that instructions outside of
        fusions write. What stands in a loop is counted once.

    Example:
        >>> count_program("ENTRY %main (x: f32[8]) -> f32[8] {\n  %s = f32[8] sine(%x)\n}")
        {('opcode', 'sine'): 1, ('bytes', 'written'): 32}
    """
    found = list(instructions(hlo))
    inside = {name for each in found for name in _INSIDE.findall(each.text)}
    counts: Counter[tuple[str, str]] = Counter()
    for exchange in collectives_in(hlo):
        counts["collective", exchange.name] += exchange.times
        counts["bytes", exchange.name] += exchange.nbytes
    for each in found:
        if each.opcode == "fusion" and (kind := _KIND.search(each.text)):
            counts["fusion", kind[1].lower()] += 1
        elif each.opcode == "custom-call" and (target := _TARGET.search(each.text)):
            counts["call of", target[1]] += 1
    for each in found:
        counts["opcode", each.opcode] += 1
    for each in found:
        if each.computation not in inside and each.opcode not in _WRITES_NOTHING:
            counts["bytes", "written"] += bytes_of_type(each.gives)
    return dict(counts)


def renumbered(hlo: str) -> str:
    """Return a program's text with names by the order in which they first stand there.

    Texts of two programs are then the same where the programs are, but for large constants.

    Example:
        >>> renumbered("  %sine.7 = f32[8] sine(%x.3)")
        '  %1 = f32[8] sine(%2)'
    """
    names: dict[str, str] = {}
    return _rename(hlo, lambda name: names.setdefault(name, f"%{len(names) + 1}"))


def without_numbers(hlo: str) -> str:
    """Return a program's text with names that have no numbers, so that a new one moves no other.

    Example:
        >>> without_numbers("  %sine.7 = f32[8] sine(%param_0.3)")
        '  %sine = f32[8] sine(%param)'
    """
    return _rename(hlo, lambda name: _NUMBERS.sub("", name))


def _rename(hlo: str, rename: Callable[[str], str]) -> str:
    channels: dict[str, int] = {}
    text = _ORIGIN.sub("", _MODULE.sub("HloModule", hlo))
    lines = (
        _PARAMETER.sub(r"\1", line) if _HEADER.match(line) else line for line in text.splitlines()
    )
    text = _NAME.sub(lambda match: rename(match[0]), "\n".join(lines))
    return _CHANNEL.sub(
        lambda match: f"channel_id={channels.setdefault(match[1], len(channels) + 1)}", text
    )
