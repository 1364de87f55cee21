"""Arrays of a session before and after some code."""

from typing import Any

from ipyjaxbench.device.live_arrays import LiveArrays
from tests.device.conftest import Frameworks
from tests.device.fake import Array, OtherArray, Unreferred


def since(frameworks: Frameworks, before: LiveArrays, names: dict[str, Any]) -> list[str]:
    """Names and bytes of what is new."""
    now = LiveArrays([*frameworks], names)
    return [f"{each.name} {each.nbytes}" for each in now.created_since(before)]


def gone(arrays: LiveArrays) -> list[tuple[str, int]]:
    return [(each.name, each.nbytes) for each in arrays.freed()]


def test_new_arrays_have_the_name_that_leads_to_them(frameworks: Frameworks) -> None:
    old = Array(1)
    before = LiveArrays([*frameworks], {"old": old})
    x, inner, hidden, out = Array(2), Array(8), Array(3), Array(4)
    names = {"old": old, "tree": [x, inner], "x": x, "_h": hidden, "Out": {1: out}, "In": [out],
             "z": OtherArray(16)}  # fmt: skip
    assert since(frameworks, before, names) == ["z 16", "in tree 8", " 4", " 3", "x 2"]
    (info, *_) = LiveArrays([*frameworks], {"z": OtherArray(16)}).created_since(before)
    assert (info.framework, info.dtype, info.shape, info.devices) == ("other", "int8", (16,), ())


def test_arrays_that_only_the_framework_knows_are_there_too(frameworks: Frameworks) -> None:
    before = LiveArrays([*frameworks], {})
    base = Array(8)
    frameworks.fake.live += [base, Array(4), Array(2, deleted=True)]
    view = Array(8, base=base)
    assert since(frameworks, before, {"v": view}) == ["v 8", " 4"]  # the view stands for its base
    assert since(frameworks, before, {}) == [" 8", " 4"]
    # What has no memory of its own is left out.
    none = {"view": Array(4, view=True), "gone": Array(deleted=True), "x": Unreferred()}
    assert since(frameworks, before, none) == [" 8", " 4"]


def test_functions_and_what_ipython_holds_are_not_entered(frameworks: Frameworks) -> None:
    before = LiveArrays([*frameworks], {})

    class Exit:
        """As `exit` is in a shell."""

        def __init__(self) -> None:
            self.held = Array()

    def function() -> None:
        """Holds an array."""

    function.held = Array()  # type: ignore[attr-defined]
    Exit.__module__ = "IPython.core.autocall"
    own = {name: {"_": [Array()]} for name in ("__builtins__", "__loader__", "__spec__")}
    names: dict[str, Any] = {"exit": Exit(), "f": function, **own}
    assert since(frameworks, before, names) == []


def test_arrays_that_are_there_no_longer_are_freed(frameworks: Frameworks) -> None:
    kept, deleted, dead = Array(1), Array(2), Array(4)
    arrays = LiveArrays([*frameworks], {"kept": kept, "deleted": deleted, "dead": [dead]})
    assert gone(arrays) == []
    deleted.deleted = True
    assert gone(arrays) == [("deleted", 2)]
    del dead
    assert gone(arrays) == [("in dead", 4), ("deleted", 2)]


def test_an_array_in_the_place_of_another_one_is_new(frameworks: Frameworks) -> None:
    """Python gives the number of an object that is gone to another one."""
    array = Array(4)
    before = LiveArrays([*frameworks], {"a": array})
    assert since(frameworks, before, {"a": array}) == []
    (number,) = before._arrays
    other = Array(4)
    reference, framework, info = LiveArrays([*frameworks], {"b": other})._arrays[id(other)]
    now = LiveArrays([*frameworks], {})
    now._arrays[number] = reference, framework, info
    assert [each.name for each in now.created_since(before)] == ["b"]
