"""What calls change of the settings of libraries that are no frameworks: they hold no arrays."""

import sys
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks.state.figures import drawn_in_figures
from ipyjaxbench.frameworks.state.undo import Holder, Setting, State
from ipyjaxbench.usercode import names_of_module

#: What the code is that may change the settings of a package, beside its own.
_USED_BY = {
    "seaborn": ("matplotlib",),
    "pandas": ("matplotlib",),
    "mpl_toolkits": ("matplotlib",),
    "tensorflow": ("keras",),
}


def sees_settings(package: str) -> tuple[str, ...]:
    """Return the packages whose settings code of a package may change."""
    return (package, *_USED_BY.get(package, ()))


def library_settings(package: str) -> Iterator[tuple[str, State]]:
    """Yield settings of a library by what they are called; none of a library that has none."""
    if package == "matplotlib":
        yield from drawn_in_figures()
    for label, path in _DICTIONARIES.get(package, ()):
        module = sys.modules.get(path[0])
        found: Any = None if module is None else names_of_module(module).get(path[1])
        for name in path[2:]:
            found = getattr(found, name, None)
        if found is not None:
            yield label, Holder(None, [found])
    if package == "keras":
        yield from _keras_globals()
    for place, name in _FUNCTIONS.get(package, ()):
        if (owner := sys.modules.get(place)) is not None:
            yield f"{place}.{name}()", _function_setting(owner, name)


def _function_setting(owner: Any, name: str) -> Setting:
    read, write = getattr(owner, name), getattr(owner, f"set_{name}")
    return Setting(lambda: [read()], lambda values: write(*values))


def _keras_globals() -> Iterator[tuple[str, State]]:
    # Private: to ask for the policy makes one, by which later changes of `floatx` are ignored.
    module = sys.modules.get("keras.src.backend.common.global_state")
    held: Any = None if module is None else names_of_module(module).get("GLOBAL_STATE_TRACKER")
    if (shared := getattr(held, "global_seed_generator", None)) is not None:
        yield "Keras's random state", Holder(None, [shared])
    for name in _OF_KERAS if held is not None else ():
        yield f"Keras's {name}", _attribute_setting(held, name)


def _attribute_setting(owner: Any, name: str) -> Setting:
    return Setting(
        lambda: [getattr(owner, name, None)], lambda values: setattr(owner, name, *values)
    )


#: What Keras keeps for each thread; one that is None is as if it was never set.
_OF_KERAS = ("dtype_policy", "interactive_logging", "traceback_filtering")
#: Where a package keeps its settings: a module, a name in it, and attributes from there.
_DICTIONARIES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "matplotlib": (("rcParams", ("matplotlib", "rcParams")),),
    "pandas": (("pandas.options", ("pandas", "options", "d")),),
    "keras": (("Keras's counters of names",
               ("keras.src.backend.common.global_state", "GLOBAL_STATE_TRACKER",
                "object_name_uids")),),
}  # fmt: skip
#: Functions that read a setting, in a module with others that set it.
_FUNCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "keras": tuple(("keras.config", name) for name in ("floatx", "epsilon", "image_data_format")),
}
