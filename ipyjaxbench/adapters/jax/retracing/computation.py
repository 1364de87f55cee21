"""What a program computes, however the numbers in it are typed.

Of Python's 2.0, `np.float32(2.0)` and `jnp.array(2.0)` JAX makes other jaxprs: the type of one is
weak, and another one is an array beside the program, or goes into a loop as an argument.
"""

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ipyjaxbench.adapters.jax.graphs.flops import combines, inner_jaxpr
from ipyjaxbench.adapters.jax.graphs.program import is_literal, programs_within

_CALLS = ("pjit", "jit", "closed_call", "core_call")
_TYPINGS = ("convert_element_type", "copy", "copy_p", "device_put")
#: Parameters that count the arguments of loops and rules, of which numbers may be some.
_COUNTS = ("num_consts", "ft_in", "cond_nconsts", "body_nconsts", "linear")
_UNSPECIFIED = {"UnspecifiedValue"}
_PLACE = re.compile(r"0x[0-9a-f]+")


class _Number(NamedTuple):
    """A number that stands in a program, or beside it."""

    dtype: Any
    data: bytes  # that of NaN, too, is equal to itself


class _Result(NamedTuple):
    """A value that is not known before the program runs."""

    place: int


class _Array(NamedTuple):
    """One of the arrays beside a program."""

    place: int


_Operand = _Number | _Result | _Array
_Operations = list[tuple[Any, ...]]


class Computation:
    """The operations of a program in order, without those that only say of which type something is.

    Args:
        program: a closed jaxpr.
        held: the identities of what is an array in any case, as it can change in place.

    Attributes:
        content: equal for programs that compute the same, if their arrays are the same.
        arrays: those beside the program, in the order in which it uses them.
    """

    def __init__(self, program: Any, held: Container[int] = ()) -> None:
        self.arrays: list[Any] = []
        self._held, self._places = held, itertools.count()
        inputs = self._unknown(program.jaxpr.invars)
        ends = (*program.jaxpr.invars, *program.jaxpr.outvars)
        types = [(*_type_of(each), getattr(each.aval, "weak_type", False)) for each in ends]
        self.content: Any = (types, *self._run(program, inputs))

    def _unknown(self, atoms: Iterable[object]) -> list[_Operand]:
        return [_Result(next(self._places)) for _ in atoms]

    def _run(self, program: Any, inputs: Sequence[_Operand]) -> tuple[list[_Operand], _Operations]:
        """Return the results of a program, and its operations."""
        jaxpr, constants = inner_jaxpr(program), getattr(program, "consts", ())
        known = dict(zip(jaxpr.invars, inputs, strict=True))
        for atom, value in zip(jaxpr.constvars, constants, strict=False):
            known[atom] = self._constant(atom, value)

        def operand(atom: Any) -> _Operand:
            return self._constant(atom, atom.val) if is_literal(atom) else known[atom]

        done: _Operations = []
        for equation in jaxpr.eqns:
            results, operations = self._do(equation, [*map(operand, equation.invars)])
            known |= zip(equation.outvars, results, strict=True)
            done += operations
        return [*map(operand, jaxpr.outvars)], done

    def _constant(self, atom: Any, value: Any) -> _Operand:
        dtype = getattr(atom.aval, "dtype", None)
        if isinstance(dtype, np.dtype) and np.shape(value) == () and id(value) not in self._held:
            return _Number(dtype, np.asarray(value).astype(dtype).tobytes())
        places = (n for n, each in enumerate(self.arrays) if each is value)
        place = next(places, len(self.arrays))
        if place == len(self.arrays):
            self.arrays.append(value)
        return _Array(place)

    def _do(self, equation: Any, given: list[_Operand]) -> tuple[list[_Operand], _Operations]:
        """Return the results of an equation, and the operations that it is."""
        name, inner = str(equation.primitive.name), []
        if not combines(equation):
            inner = [*programs_within(equation)]
        if name in _CALLS and len(inner) == 1 and _is_plain(equation.params):
            return self._run(inner[0], given)
        same = _retyped(equation, given[0]) if name in _TYPINGS else None
        if same is not None:
            return [same], []
        rest, passed = _split(name, equation.params, given, inner)
        bodies = []
        for each, known in zip(inner, passed, strict=True):
            others = self._unknown(inner_jaxpr(each).invars[len(known) :])
            bodies.append(self._run(each, [*known, *others]))
        results = self._unknown(equation.outvars)
        types = [_type_of(each) for each in equation.outvars]
        return results, [(name, dict(_texts(equation.params, inner)), types, bodies, rest)]


def _is_plain(params: dict[str, Any]) -> bool:
    """Whether a call of a jitted function says nothing of where and how that is to run."""
    shardings = (*params.get("in_shardings", ()), *params.get("out_shardings", ()))
    asked = params.get("donated_invars", ()), params.get("compiler_options_kvs", ())
    return {str(each) for each in shardings} <= _UNSPECIFIED and not any(map(any, asked))


def _retyped(equation: Any, value: _Operand) -> _Operand | None:
    """Return what is converted, if it stays the same number; None where it may become another."""
    before, after = equation.invars[0].aval.dtype, equation.outvars[0].aval.dtype
    placed = [equation.params.get("sharding"), *equation.params.get("devices", ())]
    if len(equation.invars) > 1 or any(each is not None for each in placed):
        return None
    if before == after:
        return value
    if not isinstance(value, _Number):
        return None
    (number,) = np.frombuffer(value.data, before)
    with np.errstate(all="ignore"):
        converted = np.asarray(number).astype(after)
        is_rounded = all(jax.dtypes.issubdtype(each, np.floating) for each in (before, after))
        is_kept = is_rounded or converted.astype(before) == number
    return _Number(after, converted.tobytes()) if is_kept else None


def _split(
    name: str, params: dict[str, Any], given: list[_Operand], inner: Sequence[Any]
) -> tuple[list[_Operand], list[list[_Operand]]]:
    """Return the operands of an operation, and those that only the programs in it take.

    The first inputs of these are such ones, whatever becomes of the others in each turn of a loop.
    """
    if name == "scan":
        count = _constants_of_scan(params)
        return given[count:], [given[:count]]
    if name == "while":
        first, count = params["cond_nconsts"], params["body_nconsts"]
        ends = {"cond_jaxpr": given[:first], "body_jaxpr": given[first : first + count]}
        return given[first + count :], [ends[each] for each in params if each in ends]
    if name == "cond":
        return given[:1], [given[1:] for _ in inner]
    if inner and all(len(inner_jaxpr(each).invars) == len(given) for each in inner):
        return [], [given for _ in inner]
    return given, [[] for _ in inner]


def _constants_of_scan(params: dict[str, Any]) -> int:
    if "num_consts" in params:
        return int(params["num_consts"])
    constants, _, _ = params["ft_in"].unpack()  # from JAX 0.12 on
    return len([*constants])


def _texts(params: dict[str, Any], inner: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield the parameters of an operation, but for programs and functions of Python."""
    for key, value in params.items():
        parts = value if isinstance(value, tuple | list) else (value,)
        is_inner = any(part is each for part in parts for each in inner)
        is_code = callable(value) and not isinstance(value, type)
        if key not in _COUNTS and not is_inner and not is_code:
            yield key, _PLACE.sub("", str(value))


def _type_of(atom: Any) -> tuple[Any, Any]:
    return getattr(atom.aval, "dtype", str(atom.aval)), getattr(atom.aval, "shape", ())
