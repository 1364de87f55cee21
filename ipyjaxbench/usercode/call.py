"""User code read as one call: what is called, with which arguments, and how they are named."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS, OptionError, SnippetError
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.awaiting import run
from ipyjaxbench.usercode.snippet import Namespace, Source
from ipyjaxbench.usercode.syntax import awaits

OnEvaluate = Callable[[Sequence[str]], object]


@dataclass(frozen=True)
class Call:
    """One call, not made yet."""

    text: str  # what the user typed
    function: Callable[..., Any]  # what is called
    args: tuple[Any, ...] = ()  # its positional arguments
    kwargs: Mapping[str, Any] = field(default_factory=dict)  # its keyword arguments
    #: for each positional argument the name of the parameter that takes it.
    labels: tuple[str, ...] = ()
    #: the expression of which the function was made; None where it is the user's own.
    made_of: ast.expr | None = None

    @property
    def arguments(self) -> list[tuple[str, Any]]:
        """The name of each argument, with its value."""
        return [*zip(self.labels, self.args, strict=True), *self.kwargs.items()]

    def with_arrays(self, make: "Callable[[Shape], Any]") -> "Call":
        """Return the call with an array in place of each shape."""
        return replace(self, args=tuple(make(a) if type(a) is Shape else a for a in self.args))

    @classmethod
    def from_function(cls, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "Call":
        """Return a call from Python.

        Example:
            >>> Call.from_function(max, 3, 4).labels
            ('arg0', 'arg1')
        """
        name = objects.name_of(function) or objects.name_of(type(function))
        return cls(f"{name}(...)", function, args, kwargs, label_arguments(function, args, kwargs))


@dataclass(frozen=True)
class Shape:
    """Stands for an array of which only these are known."""

    dtype: str  # such as "float32"
    shape: tuple[int, ...]  # such as (3, 4)


def read_call_of_shapes(
    source: Source,
    names: Namespace,
    shapes: Sequence[tuple[str, tuple[int, ...]]],
    on_evaluate: OnEvaluate = lambda _: None,
) -> Call:
    """Read code as a function that is called with arrays of these types and shapes; see `read`.

    Raises:
        SnippetError: the code is no function.
    """
    __tracebackhide__ = True
    body = source.tree.body
    text = source.text.strip()
    function = None
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        on_evaluate(names_called_in([body[0].value]))
        function = run(source.compiled(ast.Expression(body[0].value)), names)
    if not callable(function):
        raise SnippetError(f"--shapes needs a function, and {text!r} is not one")
    args = tuple(Shape(dtype, shape) for dtype, shape in shapes)
    return Call(text, function, args, {}, label_arguments(function, args, {}))


def label_arguments(
    function: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[str, ...]:
    """Return the name of the parameter that takes each positional argument.

    Example:
        >>> label_arguments(lambda x, *rest: 0, (1, 2, 3), {})
        ('x', 'rest[0]', 'rest[1]')
    """
    try:
        signature = inspect.signature(function)
        signature.bind(*args, **kwargs)
    except CODE_ERRORS:  # an object may answer what it likes
        return _unknown_labels(args)
    labels: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            labels.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            labels += [f"{parameter.name}[{i}]" for i in range(len(args) - len(labels))]
    return tuple(labels[: len(args)])


def _unknown_labels(args: Sequence[object]) -> tuple[str, ...]:
    return tuple(f"arg{index}" for index in range(len(args)))


def read_call(
    source: Source,
    names: Namespace,
    is_data: Callable[[object], bool],
    on_evaluate: OnEvaluate = lambda _: None,
) -> Call:
    """Read the last expression of some code as a call; what stands before it is run.

    Args:
        source: the code.
        names: the namespace in which it is evaluated, and in which its statements bind names.
        is_data: whether a value holds arrays, so that the program is to take it as an input.
        on_evaluate: is called just before the function and its arguments are evaluated, with names
            that calls in them use.

    Returns:
        The call. An expression that is no call, such as ``x @ y + 1``, becomes that of a
        function of the names in it that hold arrays.

    Raises:
        SnippetError: the code does not end with an expression.
        Exception: what evaluating the function or its arguments raised.
    """
    __tracebackhide__ = True
    body = source.tree.body
    if not body or not isinstance(body[-1], ast.Expr):
        raise SnippetError("the code must end with an expression, such as f(x) or x @ y + 1")
    if body[:-1]:
        run(source.compiled(ast.Module(body[:-1], [])), names)
    expression = body[-1].value
    text = source.text.strip()
    if isinstance(expression, ast.Call):
        call = None
        parts = [expression.func, *expression.args, *(k.value for k in expression.keywords)]
        on_evaluate(names_called_in(parts))
        try:
            call = _plain_call(expression, source, names, is_data)
        except (AttributeError, TypeError):
            # The shape of an array has no methods: ``f(x.T)`` of one is looked at as a whole.
            if not any(is_shape(names.get(name)) for name in _names_in(expression)):
                raise
        if call is not None:
            return call
    _refuse_uncalled(expression, names)
    return _expression_call(expression, text, source, names, is_data)


def _refuse_uncalled(node: ast.expr, names: Namespace) -> None:
    """Raise for the name of a function, a class or a model: there is no call to look at."""
    __tracebackhide__ = True
    value = len if isinstance(node, ast.Lambda) else objects.look_up(node, names)
    is_array = any(
        objects.attribute(type(value), name) is not None for name in ("__array__", "__jax_array__")
    )
    if callable(value) and not is_array:
        raise SnippetError(explain_uncalled(ast.unparse(node)))


def refuse_uncallable(value: object, wanted: str) -> None:
    """Refuse what cannot be called; `wanted` says by whom, and what to write."""
    if not objects.ask(callable, value):
        kind = objects.name_of(type(value))
        article = "an" if kind[:1].lower() in "aeiou" else "a"
        raise OptionError(f"not a function, but {article} {kind}: {wanted}")


def explain_uncalled(text: str) -> str:
    """Return what to say of a function, a class or a model that is not called."""
    call = f"({text})" if text.startswith("lambda") else text
    return f"{text!r} is not called. Call it:  {call}(...)"


def _plain_call(
    node: ast.Call, source: Source, names: Namespace, is_data: Callable[[object], bool]
) -> Call | None:
    """Return a call of something that is no method of an array, and no class; else None."""
    __tracebackhide__ = True

    def value_of(part: ast.expr) -> Any:
        __tracebackhide__ = True
        return run(source.compiled(ast.Expression(part)), names)

    if isinstance(node.func, ast.Attribute):
        if _is_computed(node.func.value, names, is_data):
            return None
        owner = value_of(node.func.value)
        if is_data(owner) and not callable(owner) and not _has_own_code(owner, node.func.attr):
            return None
        function = getattr(owner, node.func.attr)
    else:
        function = value_of(node.func)
    if objects.is_of(function, type) or not callable(function):
        return None
    args: list[Any] = []
    for part in node.args:
        if isinstance(part, ast.Starred):
            args += value_of(part.value)
        else:
            args.append(value_of(part))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = value_of(keyword.value)
        kwargs |= value if keyword.arg is None else {keyword.arg: value}
    labels = _label_typed(node, function, args, kwargs)
    return Call(source.text.strip(), function, tuple(args), kwargs, labels)


def _label_typed(
    node: ast.Call,
    function: Callable[..., Any],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> tuple[str, ...]:
    """Label arguments by parameters; where those are unknown, by the names that were typed."""
    labels = label_arguments(function, args, kwargs)
    names = tuple(part.id for part in node.args if isinstance(part, ast.Name))
    is_clear = len(names) == len(node.args) and len({*names, *kwargs}) == len(names) + len(kwargs)
    return names if is_clear and labels == _unknown_labels(args) else labels


def _is_computed(node: ast.expr, names: Namespace, is_data: Callable[[object], bool]) -> bool:
    """Whether to evaluate the owner of a method is to compute: ``(x @ w)``, ``x.at[0]``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return objects.attribute(type(names.get(node.id)), "__array__") is not None
    return any(name in names and is_data(names[name]) for name in _names_in(node))


def _has_own_code(owner: object, name: str) -> bool:
    """Whether a method was written in Python by the user or a library, as a model's are."""
    method = objects.attribute(type(owner), name)
    has_numbers = objects.attribute(type(owner), "__array__") is not None
    return type(method) is FunctionType and not has_numbers


def _expression_call(
    node: ast.expr,
    text: str,
    source: Source,
    names: Namespace,
    is_data: Callable[[object], bool],
) -> Call:
    """Return the call of a function of the names in an expression that hold arrays."""
    if awaits([node]):
        raise SnippetError(
            f"{text} awaits, so it has no program. Run x = await f() first, then show g(x)."
        )
    used = [n for n in _names_in(node) if n in names and is_data(names[n])]
    arguments = ast.arguments([], [ast.arg(name) for name in used], None, [], [], None, [])
    made = ast.Expression(ast.Lambda(arguments, node))
    ast.copy_location(made.body, node)
    ast.fix_missing_locations(made)
    function = run(source.compiled(made), names)
    return Call(text, function, tuple(names[name] for name in used), {}, tuple(used), node)


def _names_in(node: ast.expr) -> list[str]:
    """Return names in the order in which they appear, each once."""
    return list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))


def names_called_in(nodes: Sequence[ast.expr]) -> list[str]:
    """Return names in those expressions in which something is called.

    Example:
        >>> names_called_in([ast.parse("f(x)").body[0].value, ast.Name("z")])
        ['f', 'x']
    """
    calling = [n for n in nodes if any(isinstance(each, ast.Call) for each in ast.walk(n))]
    return [name for node in calling for name in _names_in(node)]


def is_shape(value: object) -> bool:
    """Whether a value stands for an array without being one, as `jax.ShapeDtypeStruct` does."""
    kind = type(value)
    known = [objects.attribute(kind, name) is not None for name in ("shape", "dtype", "__array__")]
    return known == [True, True, False]


def called_name(node: ast.AST) -> str:
    """Return the last name of what a node calls, as in ``np.asarray(x)``; "" elsewhere."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
