"""The compiled function that a name of the user's stands for; nothing of the user's is run."""

import ast
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.retracing.protocol import Watches, call_watches
from ipyjaxbench.retracing.static_evaluation import StaticValues, UnknownError
from ipyjaxbench.usercode import Namespace, Source, ask, call_of


class NamedFunction(NamedTuple):
    """A compiled function: its framework, the name in its definition, and what tells it apart."""

    framework: str
    name: str
    token: int


def find_named(text: str, names: Namespace) -> NamedFunction | None:
    """Return what stands for a compiled function, as ``model.step``; None where nothing does."""
    watches = [*call_watches(loaded()[0])]
    try:
        source = Source(ast.parse(text), text, "<name>")
        values = StaticValues(
            source,
            names,
            lambda value: any(ask(watch.takes, value) for _, watch in watches),
            lambda _: False,
        )
        value = values.evaluate(ast.parse(text, mode="eval").body)
        return _named(value, watches) or _named(call_of(value), watches)
    except (SyntaxError, NameError, UnknownError):
        return None
    except CODE_ERRORS:  # an object may raise anything where it is looked at
        return None


def _named(value: Any, watches: Watches) -> NamedFunction | None:
    for framework, watch in watches:
        if ask(watch.takes, value):
            return NamedFunction(framework.name, watch.name(value), watch.token(value))
    return None
