"""The magics in a shell of IPython, and all else that knows IPython.

A magic splits its line (`commands`), calls a room below, and presents what that found
(`invocation`): one file each. The others stand beside: completion, awaiting, progress, settings.
`ipyjaxbench.load_ipython_extension` calls `load` and `unload`; nothing else calls this room.
"""

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import TraitError

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.extension import Extension
from ipyjaxbench.jupyter.session import Session

# What a shell keeps for extensions, in `shell.meta`: the session stays when they are unloaded, so
# that `%reload_ext` loses neither results that were kept nor what `%config` set.
_SESSION, _EXTENSION = "ipyjaxbench_session", "ipyjaxbench_extension"


def load(shell: InteractiveShell) -> None:
    """Register the magics, unless they are."""
    if not isinstance(shell, InteractiveShell):
        raise OptionError(
            f"load_ipython_extension needs an IPython shell, not {shell!r}. Type"
            " %load_ext ipyjaxbench in a notebook; in Python, use ipyjaxbench.measure(f, x)."
        )
    if _EXTENSION in shell.meta:
        return
    try:
        session = shell.meta.get(_SESSION) or Session(shell)
    except TraitError as error:
        raise UsageError(f"c.IpyJaxBench in ipython_config.py: {error}") from None
    extension = Extension(session)
    extension.enter()
    shell.meta[_SESSION], shell.meta[_EXTENSION] = session, extension


def unload(shell: InteractiveShell) -> None:
    """Remove the magics and all else that loading registered."""
    extension = shell.meta.pop(_EXTENSION, None)
    if extension is not None:
        extension.leave()
