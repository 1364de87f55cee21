"""Reads a notebook the way jupyter_server does: below its root, and not what is hidden."""

from typing import Any

from jupyter_core.utils import ensure_async

from ipyjaxbench.server.errors import RefusedError

_NOT_FOUND, _TOO_LARGE, _NOT_A_NOTEBOOK = 404, 413, 400


async def read_contents(handler: Any, path: str, limit: int) -> str:
    """Return the text of a notebook, unread.

    As a file and not as a notebook: that would check, convert and trust all of it on the event
    loop.

    Args:
        handler: that answers; its contents manager decides what may be read.
        path: of the notebook, below the server's root.
        limit: bytes of the largest one.

    Raises:
        RefusedError: there is none, it is hidden, too large, or no text.
    """
    manager = handler.contents_manager
    path = path.strip("/")
    if not path.endswith(".ipynb"):
        raise RefusedError(_NOT_A_NOTEBOOK, f"{path[:200]}: not the path of a notebook (.ipynb)")
    try:
        hidden = not manager.allow_hidden and await ensure_async(manager.is_hidden(path))
    except OSError:  # such as a name that is too long for a file
        hidden = True
    if hidden:
        raise RefusedError(_NOT_FOUND, "no such notebook")
    model = await ensure_async(manager.get(path, content=False, type="file"))
    size = model.get("size") or 0
    if size > limit:
        raise RefusedError(_TOO_LARGE, f"{size:,} bytes: more than {limit:,}, so it is not read")
    model = await ensure_async(manager.get(path, content=True, type="file", format="text"))
    return str(model["content"])
