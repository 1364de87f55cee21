"""The plugin that stands for an accelerator: how JAX is told of it, before it is imported."""

import importlib.metadata
import importlib.util
import os
import sys

NAME, PACKAGE = "fake", "lammps-jax-pjrt-cpu"


def missing() -> str:
    """What is not here that the platform takes; "" where all is."""
    if importlib.util.find_spec("lammps_jax_pjrt_cpu") is None:
        return f"{PACKAGE}, for Python 3.12 or newer"
    versions = {name: importlib.metadata.version(name) for name in (PACKAGE, "jaxlib")}
    return "" if len({*versions.values()}) == 1 else f"{PACKAGE} of the version of jaxlib"


def start() -> None:
    """Have JAX take the platform first; the host's stays beside it."""
    if "jax" in sys.modules:
        raise RuntimeError("jax was imported before")
    import lammps_jax_pjrt_cpu

    os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = f"{NAME}:{lammps_jax_pjrt_cpu.PLUGIN_PATH}"
    os.environ["JAX_PLATFORMS"] = f"{NAME},cpu"
