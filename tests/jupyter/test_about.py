"""%ipyjaxbench: the magics, and what a report of a bug needs."""

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError

import ipyjaxbench
from ipyjaxbench import About, about
from ipyjaxbench.device.devices import Device, FrameworkDevices
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.host import Gpu, describe_machine
from ipyjaxbench.jupyter.commands import COMMANDS
from ipyjaxbench.reports.result import MIME
from tests.fake_framework import FakeFramework
from tests.shell import Shell

about_module = sys.modules["ipyjaxbench.device.about"]


def facts() -> dict[str, str]:
    return dict(about().facts)


def test_the_magics_stand_there_with_versions_and_the_text_can_be_pasted(shell: Shell) -> None:
    shell.run("%ipyjaxbench -v result")
    (output,) = shell.shown
    text = " ".join(output.data["text/plain"].split())
    for command in COMMANDS.values():
        assert f"{command.typed} {command.purpose}" in text
    assert About.from_dict(output.data[MIME]).facts
    lines = shell.names["result"].text.splitlines()
    assert all(re.match(r" {0,2}\S+( \S+)*  +\S", line) for line in lines if line.strip()), lines
    assert re.search(r"<pre [^>]*>```text\s+ipyjaxbench +", output.data["text/html"])
    found = dict(shell.run("%ipyjaxbench -q -o").facts)
    assert found["python"].startswith(sys.version.split()[0])
    assert found["numpy"] == f"{np.__version__}, imported"
    assert re.fullmatch(r"\d+\.\d+\..+", found["IPython"])
    assert found["ipyjaxbench"].removesuffix(", not installed") == ipyjaxbench.__version__


def test_nothing_stands_behind_the_options(shell: Shell) -> None:
    with pytest.raises(UsageError) as raised:
        shell.run("%ipyjaxbench numpy")
    assert str(raised.value) == "'numpy': %ipyjaxbench takes only options"


CHIPS = [Device(f"fake:{n}", "A chip", limit=2**34) for n in range(8)]
ANOTHER = Device("fake:8", "Another chip")


def home(*devices: Device, started: bool = True) -> FrameworkDevices:
    return FrameworkDevices("fake", "1.0", started=started, devices=devices)


@pytest.mark.parametrize(
    ("known", "told", "devices"),
    [
        (None, "1.0, imported", []),  # it has no devices
        (home(started=False), "1.0, imported, not initialized", []),
        (home(*CHIPS[:1]), "1.0, initialized", ["fake:0, A chip, 16.0 GiB each"]),
        (home(*CHIPS[:4]), "1.0, initialized",
         ["fake:0, fake:1, fake:2, fake:3, A chip, 16.0 GiB each"]),
        (home(*CHIPS[:5]), "1.0, initialized", ["fake:0 to fake:4, A chip, 16.0 GiB each"]),
        (home(*CHIPS, ANOTHER), "1.0, initialized",
         ["fake:0 to fake:7, A chip, 16.0 GiB each", "fake:8, Another chip"]),
        (home(Device("fake:0", limit=0)), "1.0, initialized", ["fake:0, 0 B each"]),
    ],
)  # fmt: skip
def test_a_framework_is_told_with_its_devices_once_it_has_started(
    monkeypatch: pytest.MonkeyPatch,
    known: FrameworkDevices | None,
    told: str,
    devices: list[str],
) -> None:
    framework: Any = FakeFramework()
    framework.module = "fake"
    monkeypatch.setattr(framework, "version", lambda: "1.0")
    monkeypatch.setattr(about_module, "loaded", lambda: ([framework], {}))
    if known is not None:
        monkeypatch.setattr(DeviceInventory, "has_devices", True)
        monkeypatch.setattr(framework.capability(DeviceInventory), "devices", lambda: known)
    found = [each for each in about().facts if "fake" in each[0] or each[0] == "  devices"]
    assert found == [("fake", told), *(("  devices", line) for line in devices)]


def test_a_framework_that_is_broken_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(about_module, "loaded", lambda: ([], {"numpy": "ImportError: half"}))
    assert facts()["numpy"] == f"{np.__version__}, ImportError: half"


@pytest.mark.parametrize(
    ("changes", "cpu", "memory"),
    [
        ({}, "A CPU, 4 of 8 CPUs usable", "16.0 GiB"),
        ({"cpu": None}, "4 of 8 CPUs usable", "16.0 GiB"),
        ({"memory": None}, "A CPU, 4 of 8 CPUs usable", None),
        ({"cpu_quota": 2.0}, "A CPU, 4 of 8 CPUs usable, 2 by quota", "16.0 GiB"),
        (
            {"cpu_quota": 1.5, "memory_limit": 2**32},
            *("A CPU, 4 of 8 CPUs usable, 1.5 by quota", "16.0 GiB, 4.00 GiB by the control group"),
        ),
    ],
)
def test_limits_of_the_machine_are_told(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], cpu: str, memory: str | None
) -> None:
    here = {**describe_machine(), "cpus": 8, "usable_cpus": 4, "cpu_quota": None,
            "memory": 2**34, "memory_limit": None, "cpu": "A CPU"}  # fmt: skip
    monkeypatch.setattr(about_module, "describe_machine", lambda: here | changes)
    assert (facts()["cpu"], facts().get("memory")) == (cpu, memory)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--to=file://a/b", "--to=file://a/b"),
        ("me@here", "me@here"),
        ("--xla_dump_to=/home/somebody/dump  --x=1", "--xla_dump_to=~/dump --x=1"),
        ("--to=/home/another/x", "--to=~/x"),
        ("--to=/Users/another/x", "--to=~/x"),
        ("--to=/scratch/somebody/dump", "--to=/scratch/USER/dump"),
        ("--to=/a/somebodyelse", "--to=/a/somebodyelse"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200),
    ],
)
@pytest.mark.parametrize("variable", ["USER", "LOGNAME", "USERNAME"])
def test_variables_that_frameworks_read_are_told_and_nobody_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, typed: str, told: str
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv(variable, "somebody")
    monkeypatch.setenv("XLA_FLAGS", typed)
    assert ("variable", f"XLA_FLAGS={told}") in about().facts


def test_gpus_are_told_before_a_framework_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about_module, "query_gpu_driver", lambda: "570.86")
    monkeypatch.setattr(about_module, "query_gpus", lambda: (Gpu("A GPU"), Gpu("A GPU")))
    assert facts()["gpu"] == "2 × A GPU, driver 570.86"


@pytest.mark.parametrize(
    "name",
    ["JAX_API_TOKEN", "TF_SECRET", "TORCH_HUB_PASSWORD", "TPU_WORKER_HOSTNAMES",
     "JAX_COORDINATOR_ADDRESS", "TF_CONFIG", "AWS_REGION", "PATH"],
)  # fmt: skip
def test_what_may_be_a_secret_or_is_nobodys_business_is_not_told(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("TORCH_PROXY", "https://me:hush@example.org")
    assert "hush" not in about().text
    assert f"{name}=" not in about().text


@pytest.mark.parametrize(
    ("variable", "told"),
    [("JPY_SESSION_NAME", "JupyterLab or Notebook"), ("KAGGLE_KERNEL_RUN_TYPE", "Kaggle")],
)
def test_the_front_end_is_told_where_it_can_be_known(
    monkeypatch: pytest.MonkeyPatch, variable: str, told: str
) -> None:
    monkeypatch.setenv(variable, "x")
    assert facts()["front end"] == told


def test_nothing_is_imported_from_python() -> None:
    heavy = "numpy", "jax", "torch", "tensorflow", "keras", "IPython"
    code = "import sys, ipyjaxbench; found = dict(ipyjaxbench.about().facts)\n"
    code += f"print(found['front end'], [name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Python []"


def test_labels_and_facts_stand_in_two_columns() -> None:
    found = About((("a", "1"), ("longer", "2"), ("b", "")))
    assert found.text == "a       1\nlonger  2\nb"
    assert repr(found) == "<About a 1, longer 2>"
