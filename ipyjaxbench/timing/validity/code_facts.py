"""What code was seen to be: what an adapter needs to say what its settings mean for it."""

import ast
import dis
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from ipyjaxbench.frameworks import Placement
from ipyjaxbench.timing.known_calls import Arguments
from ipyjaxbench.usercode import arguments, nodes_of

#: Names of what multiplies matrices, in any framework; "@" is the operator.
_PRODUCTS = re.compile(
    "@|[bm]m|mv|addm[mv]|baddbmm|(chain_|)matmul|(v|tensor|multi_|)dot|dot_general|inner|einsum"
    "|conv([123]d|_general.*|olve)?|Conv([123][dD])?|(bi|)linear|Linear|Dense"
    "|(scaled_|)dot_product_attention|Multi[hH]ead.*Attention"
)
#: The user's arrays and Python's own values call nothing of a framework.
_HOST = {"numpy", "builtins"}
_READ = (ast.Name, ast.Attribute, ast.Subscript)


@dataclass(frozen=True)
class CodeFacts:
    """One piece of code and its values, as the calls have shown them."""

    inputs: tuple[Placement, ...] = ()  # where the values live that the code reads
    outputs: tuple[Placement, ...] = ()  # where the values live that it gives
    statements: tuple[ast.stmt, ...] = ()  # the code
    # of each name that it reads, the top-level package that its value comes from
    packages: Mapping[str, str] = field(default_factory=dict)
    functions: tuple[object, ...] = ()  # callables and modules that it can reach
    written: tuple[FunctionType, ...] = ()  # those among them that the user wrote
    compiled: tuple[object, ...] = ()  # those among them that a framework compiles
    # what it calls once in each run, with its arguments; None where these are not known
    calls: tuple[tuple[Any, Arguments | None], ...] = ()

    def devices(self, framework: str, dtype: str) -> list[str]:
        """Return the devices where this framework's arrays of a type, or of mixed types, live."""
        places = [p for p in (*self.inputs, *self.outputs) if p.framework == framework]
        found = [p.devices for p in places if p.dtype in (dtype, "mixed")]
        return list(dict.fromkeys(itertools.chain.from_iterable(found)))

    @property
    def multiplies(self) -> bool:
        """Whether matrix products are visible in the code and the user's functions."""
        return any(_PRODUCTS.fullmatch(word) for word in self.words)

    @cached_property
    def words(self) -> frozenset[str]:
        """Names, attributes, keywords and strings in the code and in the user's functions."""
        words = set(_words_of_tree(self.statements))
        for function in self.written:
            words.update(_words_of_code(function.__code__))
        return frozenset(words)

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """What the code hands to calls and operators of something other than NumPy, as typed.

        Of ``f(params['w'])`` these are ``params['w']`` and ``params``.
        """
        texts: set[str] = {typed for value in self.given for typed in _handed(value)}
        for node in nodes_of(self.statements):
            if isinstance(node, ast.BinOp):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if isinstance(one, _READ) and self._is_foreign(_root(other)):
                        texts.add(ast.unparse(one))
        return frozenset(texts)

    @cached_property
    def given(self) -> tuple[ast.expr, ...]:
        """The arguments of calls of something other than NumPy and Python."""
        calls = (n for n in nodes_of(self.statements)
                 if isinstance(n, ast.Call) and self._is_foreign(_root(n.func)))  # fmt: skip
        return tuple(each for call in calls for each in arguments(call))

    def is_numpys(self, node: ast.expr) -> bool:
        """Whether what an expression begins with is a module or an object of NumPy's."""
        return self.packages.get(_root(node) or "") == "numpy"

    def _is_foreign(self, name: str | None) -> bool:
        return name is not None and self.packages.get(name, "builtins") not in _HOST


def _words_of_tree(statements: tuple[ast.stmt, ...]) -> Iterator[str]:
    for node in nodes_of(statements):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)):
                yield word
            case ast.Constant(value=str(word)):
                yield word
            case ast.MatMult():
                yield "@"


def _words_of_code(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _words_of_code(constant)
        else:  # the names of keywords come as a tuple
            parts = constant if isinstance(constant, tuple) else (constant,)
            yield from (part for part in parts if isinstance(part, str))
    if any(instruction.argrepr in ("@", "@=") for instruction in dis.get_instructions(code)):
        yield "@"


def _root(node: ast.expr) -> str | None:
    """The name that an expression begins with: ``jax`` of ``jax.nn.relu`` and of ``jax.jit(f)``."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return None
    return node.id


def _handed(node: ast.expr) -> Iterator[str]:
    """What is handed over as it is, alone or in a display; of a part also what it is a part of."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute():
            yield ast.unparse(node)
        case ast.Subscript(value=inner):
            yield ast.unparse(node)
            yield from _handed(inner)
        case ast.Starred(value=inner):
            yield from _handed(inner)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from _handed(item)
        case ast.Dict(values=items):
            for item in items:
                yield from _handed(item)
