"""What is set of GPU memory, in processes of their own: the environment is part of them."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import OptionError
from ipyjaxbench.device.memory import (
    MEMORY_VARIABLES,
    MemoryRequest,
    MemorySetting,
    MemorySettings,
    too_late,
)
from ipyjaxbench.jupyter.commands import DEVICES

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
    for before in ("", "import jax"):
        told, found = done(before)
        assert [undo for _, undo in told["jax"]] == [
            "del os.environ['XLA_PYTHON_CLIENT_PREALLOCATE']",
            "del os.environ['XLA_PYTHON_CLIENT_MEM_FRACTION']",
        ]
        assert found["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
        assert found["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "0.5"


@with_jax
def test_nothing_is_set_once_jax_has_started() -> None:
    told, found = done("import jax; jax.numpy.ones(1)", JAX_PLATFORMS="cpu")
    assert told["jax"] == [["has started without a GPU: nothing to set", ""]]
    assert not [name for name in found if name.startswith("XLA")]


@with_jax
def test_a_variable_that_was_set_is_told_with_its_value_to_undo_it() -> None:
    told, found = done("", XLA_CLIENT_MEM_FRACTION=".9", XLA_PYTHON_CLIENT_PREALLOCATE="false")
    assert told["jax"][0][1] == ""
    assert told["jax"][1][1] == "os.environ['XLA_CLIENT_MEM_FRACTION'] = '.9'"
    # JAX refuses to start with both.
    assert found["XLA_CLIENT_MEM_FRACTION"] == "0.5"
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" not in found


def test_a_framework_that_has_no_such_setting_says_so() -> None:
    (told,) = MEMORY_VARIABLES["torch"].set(MemoryRequest(prealloc=False))
    assert told == MemorySetting(
        "torch", "takes memory as it needs it: there is nothing to turn off"
    )


def test_what_comes_too_late_says_what_to_type_and_when() -> None:
    told = too_late("jax", MemoryRequest(prealloc=False, fraction=0.5))
    assert told.words.endswith(
        "Restart the kernel, and type %fwdevices --no-prealloc --mem-fraction 0.5 before its first"
        " use"
    )
    assert told.undo == ""


def test_the_report_tells_how_to_undo_and_is_kept() -> None:
    found = MemorySettings("--no-prealloc", (MemorySetting("jax", "set", "unset"),), "no GPU")
    text = str(found)
    assert "1 setting" in text
    assert "undo: unset" in text
    assert "no GPU" in text
    assert MemorySettings.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("value", ["1.5", "0", "abc", "-1", "nan"])
def test_a_share_that_is_none_is_refused_with_the_rule(value: str) -> None:
    with pytest.raises(OptionError, match=r"a share from 0\.01 to 1, as in --mem-fraction 0\.5"):
        DEVICES.split(f"--mem-fraction {value}")


def test_settings_stand_alone(shell: Any) -> None:
    with pytest.raises(UsageError, match="stand alone"):
        shell.run("%fwdevices --no-prealloc 3")
    with pytest.raises(UsageError, match="stand alone"):
        shell.run("%%fwdevices --no-prealloc\nx = 3")
