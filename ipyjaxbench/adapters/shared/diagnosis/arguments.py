"""A call with another argument, to be tried."""

from dataclasses import replace
from typing import Any

from ipyjaxbench.usercode import Call


def replace_argument(call: Call, name: str, value: Any) -> Call:
    """Return a call with another value of one argument."""
    values = {**dict(call.arguments), name: value}
    args = tuple(values[label] for label in call.labels)
    return replace(call, args=args, kwargs={key: values[key] for key in call.kwargs})
