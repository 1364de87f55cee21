"""Installing the package on Colab leaves all that is there as it is."""

import json
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
THERE = dict(re.findall(r"^([\w.-]+)==(\S+)", (HERE / "colab.txt").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
KEPT = {"ipython", "traitlets", "ipykernel", "jupyter-core", "jupyter-client", "numpy", "jax",
        "jaxlib", "torch", "tensorflow"}  # fmt: skip


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which pip finds Colab's packages: their names and versions alone."""
    home = tmp_path_factory.mktemp("colab")
    venv.create(home, with_pip=False)
    (site,) = home.glob("lib/python*/site-packages")
    for name, version in THERE.items():
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        facts = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (info / "METADATA").write_text(facts)
    return home / "bin" / "python"


def installed(python: Path, *requirements: str) -> set[str]:
    """What pip would install there."""
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--dry-run"]
    done = subprocess.run(
        [*command, "--report", "-", *requirements], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {normal(each["metadata"]["name"]) for each in json.loads(done.stdout)["install"]}


def test_what_must_not_change_is_known_to_be_there() -> None:
    assert {normal(name) for name in THERE} >= KEPT


def test_an_older_version_would_be_seen_to_change(colab: Path) -> None:
    assert "traitlets" in installed(colab, "traitlets>=5.14")


def test_installing_the_package_and_its_extras_changes_nothing_and_adds_one_library(
    colab: Path,
) -> None:
    extras = ("jax", "torch", "tensorflow", "plot")
    named = [each for extra in extras for each in PROJECT["optional-dependencies"][extra]]
    assert "msgspec" in PROJECT["dependencies"]
    assert installed(colab, *PROJECT["dependencies"], *named) == {"msgspec"}
