"""Imports the package before a test replaces anything: what is imported meanwhile would keep it."""

import importlib
import pkgutil
import sys
from collections.abc import Iterable
from contextlib import suppress

import ipyjaxbench
from ipyjaxbench.frameworks import loaded


def import_all() -> None:
    """Import all modules but adapters to what nobody imported, and make the adapters.

    A server imports its room itself, which takes three seconds.
    """
    _import_below(ipyjaxbench.__path__, "ipyjaxbench.")
    loaded()


def _import_below(folders: Iterable[str], prefix: str) -> None:
    for module in pkgutil.iter_modules(folders, prefix):
        _, room, *below = module.name.split(".")
        if room == "server" and "jupyter_server" not in sys.modules:
            continue
        if room == "adapters" and below and below[0] != "shared" and below[0] not in sys.modules:
            continue
        with suppress(ImportError):  # of an extra that is not installed
            found = importlib.import_module(module.name)
            _import_below(getattr(found, "__path__", ()), module.name + ".")
