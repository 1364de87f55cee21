"""Which line of the user's code a thread is at."""

from pathlib import Path
from types import FrameType

from ipyjaxbench.usercode import current_frames

_PACKAGE = str(Path(__file__).parents[1])
_INSTALLED = ("site-packages", "dist-packages", "<frozen", "/lib/python3")


def place_of_thread(ident: int) -> str:
    """Return where a thread is, as "train.py:88 in load"; "no code" where it has ended.

    The innermost frame that is neither ours nor of an installed package; else the innermost one.
    """
    frame = current_frames().get(ident)
    if frame is None:
        return "no code"
    own: FrameType | None = frame
    while own is not None and not _is_users(own.f_code.co_filename):
        own = own.f_back
    shown = own or frame
    return f"{Path(shown.f_code.co_filename).name}:{shown.f_lineno} in {shown.f_code.co_name}"


def _is_users(filename: str) -> bool:
    return not filename.startswith(_PACKAGE) and not any(part in filename for part in _INSTALLED)
