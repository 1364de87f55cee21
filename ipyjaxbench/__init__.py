"""Times, compares and explains code in JAX, PyTorch, TensorFlow and NumPy.

In a notebook::

    %load_ext ipyjaxbench
    %fwtime jnp.dot(x, x.T)
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# Loading stays instant: names come from where ``__init__.pyi`` says, when they are first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register the magics; IPython calls this for ``%load_ext ipyjaxbench``."""
    from ipyjaxbench import jupyter

    jupyter.load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Remove the magics; IPython calls this for ``%unload_ext ipyjaxbench``."""
    from ipyjaxbench import jupyter

    jupyter.unload(shell)
