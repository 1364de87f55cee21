"""What JAX asks its persistent compilation cache for, whether that is on or off.

The event in which it reports a request holds nothing of it. That stands in the frame that reports
it (private: ``compile_or_get_cached``); where no such frame is found nothing is known.
"""

from traceback import walk_stack
from typing import Any

REQUEST = "/jax/compilation_cache/compile_requests_use_cache"
_SEARCHING = "compile_or_get_cached"
_MAX_DEPTH = 4  # frames between an event and the function that reports it


def names_of_request(frame: Any) -> dict[str, Any] | None:
    """Return JAX's own names in the frame that asks, looked for from a listener's frame on."""
    for (each, _), _ in zip(walk_stack(frame), range(_MAX_DEPTH), strict=False):
        if each.f_code.co_name == _SEARCHING:
            return {**each.f_locals}
    return None
