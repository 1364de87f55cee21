"""Correct timing, compile insight and fair comparisons for JAX, PyTorch, TensorFlow and NumPy.

In a notebook::

    %load_ext ipyjaxbench
    %fwtime jnp.dot(x, x.T)

The rooms of the house; each stands on those below it and knows none above::

    jupyter   server        the magics, and all that knows IPython | the page and the panel
    adapters                what JAX, PyTorch, TensorFlow and NumPy answer; loaded by name
    records                 history, baselines, saved notebooks, two runs of one
    comparison              several pieces of code in interleaved rounds
    retracing               traced or cached, and why
    steps                   a training loop: data, host, device, and what is left
    timing                  one piece of code: first call, steady state, what may mislead
    graphs    device        the program that a call is | where arrays live, what devices can do
    frameworks              what a framework is, and which ones are in use
    usercode                the user's code: read, run, instrumented
    reports   host   ipynb  what a result says and how it looks | clock, machine | saved notebooks

What a room offers to others is in its ``__init__``, which also says who calls it.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# Loading stays instant: names come from where ``__init__.pyi`` says, when they are first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.2.0.dev0"


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register the magics; IPython calls this for ``%load_ext ipyjaxbench``."""
    from ipyjaxbench import jupyter

    jupyter.load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Remove the magics; IPython calls this for ``%unload_ext ipyjaxbench``."""
    from ipyjaxbench import jupyter

    jupyter.unload(shell)
