"""What is set of GPU memory, in processes of their own: the environment is part of them."""

import json
import os
import subprocess
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

_NAMES = (
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_CLIENT_MEM_FRACTION",
    "TF_FORCE_GPU_ALLOW_GROWTH",
)

with_jax = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")


def done(before: str, **environment: str) -> tuple[dict[str, list[list[str]]], dict[str, str]]:
    """What is told by framework, and what is in the environment then."""
    code = f"""
{before}
import json, os
from ipyjaxbench.device.set_memory import set_memory
found = set_memory(prealloc=False, fraction=0.5)
told = {{}}
for each in found.settings:
    told.setdefault(each.framework, []).append([each.words, each.undo])
print(json.dumps([told, {{n: os.environ[n] for n in {_NAMES!r} if n in os.environ}}]))
"""
    kept = {name: value for name, value in os.environ.items() if name not in _NAMES}
    run = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True,
        check=True, timeout=300,
    )  # fmt: skip
    told, found = json.loads(run.stdout.splitlines()[-1])
    return told, found


@with_jax
def test_what_jax_reads_at_its_first_use_is_set_before_that() -> None:
    told, found = done("import jax", XLA_CLIENT_MEM_FRACTION=".9")
    assert [undo for _, undo in told["jax"]] == [
        "del os.environ['XLA_PYTHON_CLIENT_PREALLOCATE']",
        "os.environ['XLA_CLIENT_MEM_FRACTION'] = '.9'",
    ]
    assert found["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    # JAX refuses to start with both.
    assert found["XLA_CLIENT_MEM_FRACTION"] == "0.5"
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" not in found


@with_jax
def test_nothing_is_set_once_jax_has_started() -> None:
    told, found = done("import jax; jax.numpy.ones(1)", JAX_PLATFORMS="cpu")
    assert told["jax"] == [["initialized without a GPU; nothing to change", ""]]
    assert not [name for name in found if name.startswith("XLA")]


def test_a_framework_that_has_no_such_setting_says_so() -> None:
    (told,) = MEMORY_VARIABLES["torch"].set(MemoryRequest(prealloc=False))
    assert told == MemorySetting("torch", "never preallocates; nothing to change")


def test_what_comes_too_late_says_what_to_type_and_when() -> None:
    assert str(MemoryRequest()) == ""
    told = too_late("jax", MemoryRequest(prealloc=False, fraction=0.5))
    assert told.words.endswith(
        "Restart the kernel and run `%fwdevices --no-prealloc --mem-fraction 0.5` before its first"
        " use"
    )
    assert told.undo == ""


@pytest.mark.parametrize("value", ["1.5", "0", "abc", "-1", "nan"])
def test_a_share_that_is_none_is_refused_with_the_rule(value: str) -> None:
    with pytest.raises(
        OptionError, match=r"a number from 0\.01 to 1, for example --mem-fraction 0\.5"
    ):
        DEVICES.split(f"--mem-fraction {value}")


def test_settings_stand_alone(shell: Any) -> None:
    with pytest.raises(UsageError, match="take no code"):
        shell.run("%fwdevices --no-prealloc 3")
    with pytest.raises(UsageError, match="take no code"):
        shell.run("%%fwdevices --no-prealloc\nx = 3")


# In this process, with an environment of its own

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
    environment["OLD_SHARE"] = "0.9"
    assert settings(fraction=0.5) == [(set_to("OLD_SHARE=0.5"), "os.environ['OLD_SHARE'] = '0.9'")]
    assert environment == {"OLD_SHARE": "0.5"}


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
def test_the_headline_counts_what_was_set_and_the_rest_says_how_to_undo_it(
    undo: list[str], figure: str
) -> None:
    settings = tuple(MemorySetting("x", "w", text) for text in undo)
    found = MemorySettings("--no-prealloc", settings, "no GPU", {"torch": "2.13.0", "jax": "0.1"})
    rows = [
        row for text in undo for row in (("x", "w"), *([("", f"undo: {text}")] if text else []))
    ]
    assert found.report().blocks == (
        Headline("GPU memory", figure, "--no-prealloc", "", ""),
        Facts((*rows, ("note", "no GPU"))),
        Footer(("jax 0.1, torch 2.13.0",)),
    )
    assert repr(found) == "<MemorySettings --no-prealloc>"
    assert len(MemorySettings("", settings).report().blocks) == 2


@with_jax
def test_installed_frameworks_have_their_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.setenv(name, "0.5")  # put back afterwards
    found = set_memory(fraction=0.5)
    assert found.frameworks["jax"] == version("jax")
    assert found.frameworks.keys() == {each.framework for each in found.settings}
    assert MEMORY_VARIABLES["jax"].fraction[0] == "XLA_PYTHON_CLIENT_MEM_FRACTION"


def test_options_say_whether_something_is_to_be_set() -> None:
    assert not DeviceOptions().sets
    assert DeviceOptions(prealloc=False).sets
    assert DeviceOptions(fraction=0.5).sets
    with pytest.raises(OptionError, match="--remeasure needs --peak"):
        DeviceOptions(remeasure=True)


@pytest.mark.parametrize("options", [{"prealloc": False}, {"fraction": 0.5}])
def test_what_is_set_does_not_go_with_peaks(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="--peak stands alone on its line"):
        DeviceOptions(peak=True, **options)
    DeviceOptions(peak=True).check("", None)
    DeviceOptions().check("x", "y")
    for code, cell in (("x", None), ("", "x = 1"), ("", "")):
        with pytest.raises(OptionError, match="--peak stands alone on its line"):
            DeviceOptions(peak=True).check(code, cell)
