"""Runs the behaviour suite where people are: with old and new IPython, and with Colab's versions.

    python -m tests.matrix [--folder DIR] [--only WORD] [pytest arguments]

An environment is made once and kept in the folder. NumPy is all that it has of the frameworks.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
COLAB = ROOT / "tests" / "behaviour" / "colab.txt"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
NEEDED = ("hypothesis", "ipykernel", "nbclient", "nbformat", "papermill", "pexpect", "pytest")
NAMED = ("ipython", "ipykernel", "traitlets", "jupyter_client", "numpy")


@dataclass(frozen=True)
class Environment:
    """A Python with some versions of what a notebook runs on.

    Attributes:
        name: what it stands for.
        python: its version, as in "3.13".
        ipython: which versions of IPython.
        colab: whether all else has Colab's versions too.
    """

    name: str
    python: str
    ipython: str
    colab: bool = False

    def packages(self) -> list[str]:
        """What pip is told to install."""
        pins = ["-c", str(COLAB)] if self.colab else []
        return [str(ROOT), f"ipython{self.ipython}", *NEEDED, *pins]

    def key(self) -> str:
        """Another one for another environment, or when what is installed changes."""
        parts = [self.name, self.python, self.ipython, *NEEDED]
        parts += [(ROOT / "pyproject.toml").read_text(), COLAB.read_text()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


ENVIRONMENTS = (
    Environment("Colab", "3.13", "==7.34.0", colab=True),
    Environment("Colab", HERE, "==7.34.0", colab=True),
    Environment("IPython 8", HERE, "<9"),
    Environment("IPython 9", "3.13", ">=9"),
)


def main() -> int:
    """Make the environments, run the suite in each, and print one line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kept = Path(tempfile.gettempdir()) / "ipyjaxbench-matrix"
    parser.add_argument("--folder", type=Path, default=kept, help=f"keeps them (now {kept})")
    parser.add_argument("--only", default="", help="of which name or Python, as in 3.13")
    chosen, arguments = parser.parse_known_args()
    wanted = dict.fromkeys(e for e in ENVIRONMENTS if chosen.only in f"{e.name} {e.python}")
    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda each: make(each, chosen.folder.resolve()), wanted)
        results = [run(each, python, arguments) for each, python in zip(wanted, made, strict=True)]
    return int(not all(results))


def make(environment: Environment, folder: Path) -> Path | None:
    """The environment's Python; None where there is no such Python here."""
    base = interpreter(environment.python)
    if base is None:
        return None
    home = folder / environment.key()
    python = home / "bin" / "python"
    if (home / "whole").exists():
        return python
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([base, "-m", "venv", home], check=True)
    command = [python, "-m", "pip", "install", "-q", *environment.packages()]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{environment.name}, Python {environment.python}: {done.stderr}")
    (home / "whole").touch()
    return python


def interpreter(version: str) -> str | None:
    """A Python of this version: this one, or one on the path, or one of pyenv's."""
    if version == HERE:
        return sys.executable
    found = [shutil.which(f"python{version}")]
    found += map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for each in filter(None, found):
        # The path may lead to a stand-in for a Python that is not installed.
        told = subprocess.run([each, "-c", ask], capture_output=True, text=True, check=False)
        if told.stdout.strip() == version:
            return each
    return None


def run(environment: Environment, python: Path | None, arguments: list[str]) -> bool:
    """Run the suite, and say how it went; a Python that is not here is said and not counted."""
    title = f"{environment.name}, Python {environment.python}"
    if python is None:
        print(f"not run: {title}: there is no such Python here", flush=True)
        return True
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as own:
        folders = dict.fromkeys(("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"), own)
        # What older libraries are warned of is not ours to mend.
        command = [python, "-m", "pytest", "-q", "-pno:cacheprovider", "-pno:warnings"]
        done = subprocess.run(
            [*command, "tests/behaviour", *arguments],
            cwd=ROOT,
            env={**os.environ, **folders, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    last = done.stdout.strip().splitlines()[-1:] or [""]
    counts = ", ".join(re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last[0])) or "no test"
    seconds = time.monotonic() - start
    print(f"{counts}: {title} ({versions(python)}), {seconds:.0f} s", flush=True)
    return done.returncode == 0


def versions(python: Path) -> str:
    """The versions that matter."""
    code = f"from importlib.metadata import version as v\nfor n in {NAMED}: print(n, v(n))"
    told = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ", ".join(told.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main())
