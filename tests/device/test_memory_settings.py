"""What is set of GPU memory, in an environment of the test's own."""

import sys
from importlib.metadata import version
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import OptionError
from ipyjaxbench.device import DeviceInventory, memory_settings, set_memory
from ipyjaxbench.device.memory_settings import (
    MEMORY_VARIABLES,
    MemoryRequest,
    MemorySetting,
    MemorySettings,
    MemoryVariables,
    too_late,
)
from ipyjaxbench.device.options import DeviceOptions
from ipyjaxbench.host import Gpu
from ipyjaxbench.jupyter.commands import DEVICES
from ipyjaxbench.reports import Facts, Footer, Headline
from tests.device.conftest import Frameworks


def test_what_cannot_be_set_says_why_and_what_to_type() -> None:
    (told,) = MEMORY_VARIABLES["torch"].set(MemoryRequest(prealloc=False))
    assert told == MemorySetting("torch", "never preallocates; nothing to change")
    assert str(MemoryRequest()) == ""
    told = too_late("jax", MemoryRequest(prealloc=False, fraction=0.5))
    again = "`%fwdevices --no-prealloc --mem-fraction 0.5` before its first use"
    assert told.words.endswith(f"Restart the kernel and run {again}")
    assert told.undo == ""


@pytest.mark.parametrize("value", ["1.5", "0", "abc", "-1", "nan"])
def test_a_share_that_is_none_is_refused_with_the_rule(value: str) -> None:
    with pytest.raises(
        OptionError, match=r"a number from 0\.01 to 1, for example --mem-fraction 0\.5"
    ):
        DEVICES.split(f"--mem-fraction {value}")


@pytest.mark.parametrize("typed", ["%fwdevices {} 3", "%%fwdevices {}\nx = 3"])
def test_settings_stand_alone(shell: Any, typed: str) -> None:
    with pytest.raises(UsageError, match="take no code"):
        shell.run(typed.format("--no-prealloc"))


VARIABLES = MemoryVariables("x", ("GROW", "true"), ("SHARE", "OLD_SHARE"))


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    variables: dict[str, str] = {}
    monkeypatch.setattr(memory_settings, "os", SimpleNamespace(environ=variables))
    return variables


def settings(prealloc: bool = True, fraction: float | None = None) -> list[tuple[str, str]]:
    request = MemoryRequest(prealloc=prealloc, fraction=fraction)
    return [(each.words, each.undo) for each in VARIABLES.set(request)]


def set_to(variable: str) -> str:
    return f"set {variable} in the environment; takes effect at first use"


def test_only_what_is_asked_for_is_set(environment: dict[str, str]) -> None:
    assert settings() == []
    assert settings(prealloc=False) == [(set_to("GROW=true"), "del os.environ['GROW']")]
    assert environment == {"GROW": "true"}
    assert settings(prealloc=False, fraction=0.25) == [
        ("GROW=true was already set", ""),
        (set_to("SHARE=0.25"), "del os.environ['SHARE']"),
    ]
    assert environment == {"GROW": "true", "SHARE": "0.25"}


def test_the_variable_that_is_in_use_is_set_anew(environment: dict[str, str]) -> None:
    """JAX refuses to start with both of its names for a share."""
    environment["XLA_CLIENT_MEM_FRACTION"] = ".9"
    told = MEMORY_VARIABLES["jax"].set(MemoryRequest(prealloc=False, fraction=0.5))
    assert [each.undo for each in told] == [
        "del os.environ['XLA_PYTHON_CLIENT_PREALLOCATE']",
        "os.environ['XLA_CLIENT_MEM_FRACTION'] = '.9'",
    ]
    assert environment == {
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_CLIENT_MEM_FRACTION": "0.5",
    }  # fmt: skip


def test_frameworks_that_are_imported_are_asked_and_others_by_their_variables(
    frameworks: Frameworks, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def set_it(self: DeviceInventory, request: MemoryRequest) -> list[MemorySetting]:
        asked.append(f"{self.framework.name} {request}")
        return []

    monkeypatch.setattr(DeviceInventory, "set_memory", set_it)
    module = sys.modules["ipyjaxbench.device.set_memory"]
    names = ("json", frameworks.fake.module, "a_module_that_is_not_there")
    variables = {n: MemoryVariables(n, (f"GROW_{n}", "1"), "none") for n in names}
    monkeypatch.setattr(module, "MEMORY_VARIABLES", variables)
    monkeypatch.setattr(module, "query_gpus", lambda: ())
    found = set_memory(prealloc=False)
    assert asked == ["fake --no-prealloc", "other --no-prealloc"]
    assert environment == {"GROW_json": "1"}
    assert [each.framework for each in found.settings] == ["json"]
    assert found.asked == "--no-prealloc"
    assert found.note == "only GPUs are affected, and the NVIDIA driver reports none here"
    monkeypatch.setattr(module, "query_gpus", lambda: (Gpu("H100"),))
    assert set_memory(fraction=0.5).note == ""


@pytest.mark.parametrize(
    ("undo", "figure"),
    [(["", ""], "no setting changed"), (["a", ""], "1 setting changed"),
     (["a", "b"], "2 settings changed")],
)  # fmt: skip
def test_what_was_set_is_counted_and_can_be_undone(undo: list[str], figure: str) -> None:
    settings = tuple(MemorySetting("x", "w", text) for text in undo)
    found = MemorySettings("--no-prealloc", settings, "no GPU", {"torch": "2.13.0", "jax": "0.1"})
    rows = [row for text in undo for row in (("x", "w"), ("", f"undo: {text}")) if text or row[0]]
    assert found.report().blocks == (
        Headline("GPU memory", figure, "--no-prealloc", "", ""),
        Facts((*rows, ("note", "no GPU"))),
        Footer(("jax 0.1, torch 2.13.0",)),
    )
    assert repr(found) == "<MemorySettings --no-prealloc>"
    assert len(MemorySettings("", settings).report().blocks) == 2


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_installed_frameworks_have_their_versions(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test may have started JAX, for which it would be too late.
    monkeypatch.setattr(sys.modules[set_memory.__module__], "loaded", lambda: ([], {}))
    found = set_memory(fraction=0.5)
    assert found.frameworks["jax"] == version("jax")
    assert found.frameworks.keys() == {each.framework for each in found.settings}
    assert environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "0.5"


def test_what_is_set_does_not_go_with_peaks_and_peaks_with_no_code() -> None:
    assert not DeviceOptions().sets
    assert DeviceOptions(prealloc=False).sets
    assert DeviceOptions(fraction=0.5).sets
    with pytest.raises(OptionError, match="--remeasure needs --peak"):
        DeviceOptions(remeasure=True)
    DeviceOptions(peak=True).check("", None)
    DeviceOptions().check("x", "y")
    for refused in (
        lambda: DeviceOptions(peak=True, prealloc=False),
        lambda: DeviceOptions(peak=True, fraction=0.5),
        lambda: DeviceOptions(peak=True).check("x", None),
        lambda: DeviceOptions(peak=True).check("", "x = 1"),
        lambda: DeviceOptions(peak=True).check("", ""),
    ):
        with pytest.raises(OptionError, match="--peak stands alone on its line"):
            refused()
