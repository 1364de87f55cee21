"""Static arguments that a call leaves out: the program is made with their defaults."""

import inspect
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.adapters.jax.retracing.callee import Called, plain_of
from ipyjaxbench.errors import CODE_ERRORS


def omitted_static(called: Called) -> Iterator[tuple[str, Any, str]]:
    """Yield the name, the default and the role of each, as `Called.role` says it."""
    if called.role("") == "?" or called.static == frozenset():
        return
    try:
        parameters = inspect.signature(plain_of(called.function)).parameters
    except CODE_ERRORS:  # Python does not know its signature, or an object answers what it likes
        return
    for position, (name, parameter) in enumerate(parameters.items()):
        given = position < len(called.args) or name in called.kwargs
        if not given and parameter.default is not parameter.empty:
            role = called.role(name if called.role(position) == "data" else position)
            if role != "data":
                yield name, parameter.default, role
