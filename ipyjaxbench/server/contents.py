"""Reads a notebook the way jupyter_server does: below its root, and not what is hidden."""

from typing import Any

from jupyter_core.utils import ensure_async

from ipyjaxbench.server.errors import RefusedError

_NOT_FOUND, _TOO_LARGE, _NOT_A_NOTEBOOK = 404, 413, 400
_PLAIN = "jupyter_server.services.contents."  # managers that keep what they get as files


async def read_contents(handler: Any, path: str, limit: int) -> bytes | str:
    """Return a notebook as it is written.

    As a file and not as a notebook: that would check, convert and trust all of it on the event
    loop. Where the manager keeps plain files, not even as text, which would decode all of it there.

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
    if (found := await _read_bytes(manager, path)) is not None:
        return found
    model = await ensure_async(manager.get(path, content=True, type="file", format="text"))
    return str(model["content"])


async def _read_bytes(manager: Any, path: str) -> bytes | None:
    """Return the bytes of a file that the manager has just said may be read; None of others."""
    is_plain = type(manager).get.__module__.startswith(_PLAIN)
    find, read = (getattr(manager, name, None) for name in ("_get_os_path", "_read_file"))
    if not (is_plain and find and read):
        return None
    found, *_ = await ensure_async(read(find(path), "byte"))  # versions without it give text
    return found if isinstance(found, bytes) else None
