"""The calls of the user's that found their programs, from within dynamo's hook for its searches."""

from traceback import walk_stack
from types import FrameType

from ipyjaxbench.adapters.shared.retracing import main_frame, site_of
from ipyjaxbench.adapters.torch.retracing import callee
from ipyjaxbench.retracing import CachedCall


def found(frame: FrameType) -> CachedCall | None:
    """Return the call in a frame; None for the rest of a function after a break."""
    call = callee.called_from(frame)
    return CachedCall(*call, site_of(frame, main_frame())) if call is not None else None


def found_again(frame: FrameType) -> CachedCall | None:
    """Return the call whose part a frame runs."""
    outer = (found(above) for above, _ in walk_stack(frame.f_back))
    call = next(filter(None, outer), None)
    return call and call._replace(again=True)
