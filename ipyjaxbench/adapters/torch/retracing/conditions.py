"""Whether a condition of a program, as dynamo spells it, holds for a call."""

import re
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS

_ID = re.compile(r"^\d+/\d+(?:_\d+)?: ")
#: What is said of a type or an object beside what is asked.
_REMARK = re.compile(r"\), type=.*$")
_COMMENT = re.compile(r"\s{2,}# .*$")


def plain(reason: str) -> str:
    """Return the condition in what PyTorch says, which has it in its first line."""
    return _COMMENT.sub("", _ID.sub("", reason.strip()).partition("\n")[0]).strip()


def holds(part: str, manager: Any, names: dict[str, Any]) -> bool | None:
    """Whether a condition holds, evaluated as dynamo does; None where it is no expression.

    Args:
        part: the condition.
        manager: dynamo's, of the program.
        names: the local variables of the call.
    """
    helpers = getattr(manager, "closure_vars", None) or {}
    scope = {**helpers, **(getattr(manager, "global_scope", None) or {}), "L": names}
    try:
        answer = eval(_REMARK.sub(")", part), scope)
    except CODE_ERRORS:
        return None
    return answer if isinstance(answer, bool) else None


def failed_part(parts: list[str], manager: Any, names: dict[str, Any]) -> str | None:
    """Return the condition that fails of those that PyTorch names together; None if unknown."""
    if len(parts) == 1:
        return parts[0]
    return next((part for part in parts if holds(part, manager, names) is False), None)
