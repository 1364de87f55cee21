"""Reads a notebook the way jupyter_server does: below its root, and not what is hidden."""

import asyncio
import os
from tempfile import TemporaryFile
from typing import IO, Any

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.utils import ApiPath, to_os_path

from ipyjaxbench.server.errors import RefusedError

_NOT_FOUND, _TOO_LARGE, _NOT_A_NOTEBOOK = 404, 413, 400
_PLAIN = "jupyter_server.services.contents."  # managers that keep what they get as files


async def open_notebook(handler: Any, path: str, limit: int) -> IO[bytes]:
    """Open a notebook as it is written; whoever asks closes it.

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
    is_plain = type(manager).get.__module__.startswith(_PLAIN)
    if is_plain and (file := file_path(manager, path)):
        try:
            return await asyncio.to_thread(open, file, "rb")
        except OSError as error:  # it is gone by now, or nobody may read it
            reason = f"{path[:200]} cannot be read: {error.strerror}"
            raise RefusedError(_NOT_FOUND, reason) from None
    model = await ensure_async(manager.get(path, content=True, type="file", format="text"))
    return await asyncio.to_thread(_as_file, str(model["content"]))


def file_path(manager: Any, path: str) -> str | None:
    """Return where a manager keeps a notebook as a file; None of one that keeps no files."""
    root = manager.root_dir if isinstance(manager, FileManagerMixin) else None
    return to_os_path(ApiPath(path), os.path.abspath(root)) if root else None


def _as_file(text: str) -> IO[bytes]:
    file = TemporaryFile()  # noqa: SIM115  whoever asked closes it
    file.write(text.encode(errors="replace"))
    file.seek(0)
    return file
