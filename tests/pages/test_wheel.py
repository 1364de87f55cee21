"""A wheel brings the server's part and the panel, enabled, and takes them away again."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT))
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An empty environment beside which JupyterLab is found."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    (packages,) = tmp_path.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return tmp_path / "bin" / "python"


def pip(python: str | Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(python), *arguments]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT.parent)


def listed(python: Path, module: str) -> str:
    """The lines of a listing that name the package."""
    done = subprocess.run([python, "-m", module, "list"], capture_output=True, text=True,
                          check=True, cwd=python.parent, env={"PATH": "/usr/bin:/bin"})  # fmt: skip
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if "ipyjaxbench" in line)


def test_it_is_enabled_by_installing_and_gone_by_uninstalling(wheel: Path, python: Path) -> None:
    pip(python, "install", "-q", "--no-deps", str(wheel))
    extensions = plain(listed(python, "jupyter_server.extension.serverextension"))
    assert "ipyjaxbench.server enabled" in extensions
    assert "OK" in extensions
    labextensions = plain(listed(python, "jupyterlab.labextensions"))
    assert "enabled OK (python, ipyjaxbench)" in labextensions
    pip(python, "uninstall", "-q", "-y", "ipyjaxbench")
    left = [path for path in python.parents[1].rglob("*") if "ipyjaxbench" in path.name]
    assert left == []


def plain(text: str) -> str:
    """Text without colours."""
    return text.replace("\x1b[32m", "").replace("\x1b[0m", "")
