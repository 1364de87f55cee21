"""Runs tests where people are: with old, new and Colab's versions, and beside triton.

    python -m tests.matrix [--folder DIR] [--only WORDS] [pytest arguments]

An environment is made once and kept in the folder.
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
COLAB = ROOT / "tests" / "colab.txt"
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
NEEDED = ("hypothesis==6.170.15", "ipykernel==7.4.0", "nbclient==0.11.0", "nbformat==5.11.1",
          "papermill==2.7.0", "pexpect==4.9.0", "pytest==9.2.0")  # fmt: skip
#: The newest versions that do not need packages for a GPU, as PyTorch does on this Python.
NEWEST = ("jax==0.12.0.1", "flax==0.12.12", "tensorflow-cpu==2.22.0rc0", "numpy==2.5.5",
          "equinox==0.13.8", "optax==0.2.8")  # fmt: skip
#: Where a new version of a framework shows first: what it tells privately, and what is run on it.
OF_FRAMEWORKS = tuple(
    f"tests/adapters/{name}.py"
    for name in (
        "jax/test_framework", "jax/test_graph", "jax/test_xla_costs", "jax/test_pitfalls",
        "jax/test_traces", "jax/test_transfers", "jax/test_call_watch", "jax/test_stale_unseen",
        "jax/test_earlier_client", "jax/test_disk_cache",
        "jax/test_refs", "jax/test_two_devices", "jax/test_work", "jax/test_caveats",
        "numpy/test_framework", "tensorflow/test_framework",
        "tensorflow/test_traces",
    )
)  # fmt: skip
#: What differs between Pythons in the magics themselves.
OF_PYTHON = tuple(f"tests/jupyter/test_{name}.py" for name in ("errors", "fwtime", "namespaces"))
#: By what code is compiled to, how it is followed, and what objects hold.
OF_PYTHON += ("tests/usercode", "tests/frameworks/test_positions.py", "tests/test_lifetimes.py")
#: What is told by IPython's own parts, where a version lies between two that run all.
OF_SHELL = tuple(
    f"tests/jupyter/test_{name}.py"
    for name in ("after_cell", "await", "completer", "completion", "errors", "fwtime", "help",
                 "loading", "namespaces", "nested_magics")
)  # fmt: skip


@dataclass(frozen=True)
class Environment:
    """A Python with some versions of what a notebook runs on.

    Attributes:
        name: what it stands for.
        python: its version, as in "3.13".
        packages: what it has beside what the tests need, as pip takes them.
        tests: what is run there.
        named: packages whose versions are told.
        colab: whether all else has Colab's versions.
        is_beside: whether it is this Python with its packages, and these beside them.
        is_stand_in: whether what it has stands for an accelerator.
        platforms: JAX's, where a compiler for chips is there that have no devices.
    """

    name: str
    python: str
    packages: tuple[str, ...]
    tests: tuple[str, ...] = ("tests/jupyter",)
    named: tuple[str, ...] = ("ipython", "ipykernel", "traitlets", "jupyter_client", "numpy")
    colab: bool = False
    is_beside: bool = False
    is_stand_in: bool = False
    platforms: str = ""

    def installs(self, home: Path) -> list[str]:
        """What pip is told."""
        if self.is_beside:
            return ["--no-deps", "--target", str(home), *self.packages]
        if not self.colab:
            return [str(ROOT), *self.packages, *NEEDED]
        theirs = re.findall(r"^([\w.-]+)==", COLAB.read_text(), re.MULTILINE)
        needed = [n if (n := each.partition("==")[0]) in theirs else each for each in NEEDED]
        return [str(ROOT), *self.packages, *needed, "-c", str(COLAB)]

    def key(self) -> str:
        """Another one for another environment, or when what is installed changes."""
        parts = [self.name, self.python, *self.packages, *NEEDED]
        parts += [(ROOT / "pyproject.toml").read_text(), COLAB.read_text()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


ENVIRONMENTS = (
    Environment(
        "newest", "3.13", NEWEST, (*OF_FRAMEWORKS, *OF_PYTHON),
        ("ipython", "jax", "flax", "tensorflow_cpu", "numpy"),
    ),
    # No leg of `.ci/run`: PyTorch brings 5 GB of CUDA there. Without a GPU it runs as well.
    Environment("PyTorch 2.15", "3.13", ("torch==2.15.0",), ("tests/adapters/torch",), ("torch",)),
    Environment(
        "Colab", "3.13", ("ipython==7.34.0",), ("tests/jupyter", "tests/test_colab.py"), colab=True
    ),
    Environment("IPython 8", HERE, ("ipython==8.39.0",), OF_SHELL),
    Environment(
        "asynchronous JAX platform", "3.12", ("jax==0.11.2", "lammps-jax-pjrt-cpu==0.11.2"),
        ("tests/async_platform",), ("jax", "jaxlib", "lammps-jax-pjrt-cpu"),
        is_stand_in=True,
    ),
    Environment(
        "asynchronous PyTorch device", HERE, ("ninja==1.13.0",), ("tests/async_torch",),
        ("torch", "ninja"), is_beside=True, is_stand_in=True,
    ),
    # Not installed: there JAX would look for chips at every start.
    Environment(
        "TPU compiler", HERE, ("libtpu==0.0.42.1",), ("tests/chips/test_tpus.py",),
        ("jax", "libtpu"), is_beside=True, is_stand_in=True, platforms="cpu",
    ),
    Environment(
        "GPU compiler", HERE, ("jax-cuda12-plugin==0.10.2", "jax-cuda12-pjrt==0.10.2"),
        ("tests/chips/test_gpus.py",), ("jax", "jax-cuda12-plugin"), is_beside=True,
        is_stand_in=True, platforms="cpu",
    ),
    Environment(
        "triton", HERE, ("triton==3.7.1",), ("tests/test_looking.py", "tests/test_readme.py"),
        ("triton", "torch", "tensorflow_cpu", "jax"), is_beside=True,
    ),
)  # fmt: skip


def main() -> int:
    """Make the environments and run the suite in each; print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kept = Path(tempfile.gettempdir()) / "ipyjaxbench-matrix"
    parser.add_argument("--folder", type=Path, default=kept, help=f"keeps them (now {kept})")
    parser.add_argument("--at-once", type=int, default=2, help="how many (now %(default)s)")
    parser.add_argument("--only", default="", help="words of names or Pythons, as in triton,3.13")
    chosen, arguments = parser.parse_known_args()
    words = chosen.only.split(",")
    wanted = [e for e in ENVIRONMENTS if any(word in f"{e.name} {e.python}" for word in words)]
    folder = chosen.folder.resolve()
    with ThreadPoolExecutor(chosen.at_once) as pool:
        results = [*pool.map(lambda each: run(each, make(each, folder), arguments), wanted)]
    return int(not all(results))


def make(environment: Environment, folder: Path) -> Path | None:
    """The environment's folder; None where there is no such Python here."""
    base = interpreter(environment.python)
    if base is None:
        return None
    home = folder / environment.key()
    if (home / "whole").exists():
        return home
    shutil.rmtree(home, ignore_errors=True)
    if not environment.is_beside:
        subprocess.run([base, "-m", "venv", home], check=True)
    python = python_of(environment, home)
    command = [python, "-m", "pip", "install", "-q", *environment.installs(home)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{environment.name}, Python {environment.python}: {done.stderr}")
    (home / "whole").touch()
    return home


def python_of(environment: Environment, home: Path) -> str:
    """The interpreter of an environment."""
    return sys.executable if environment.is_beside else str(home / "bin" / "python")


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


def run(environment: Environment, home: Path | None, arguments: list[str], *also: Path) -> bool:
    """Run the tests, and say how it went; a Python that is not here is said and not counted.

    Packages in more folders are found before all others.
    """
    title = f"{environment.name}, Python {environment.python}"
    if home is None:
        print(f"not run: {title}: there is no such Python here", flush=True)
        return True
    start = time.monotonic()
    python = python_of(environment, home)
    beside = [*also, *([home] if environment.is_beside else [])]
    path = os.pathsep.join(map(str, [ROOT, *beside]))
    programs = os.pathsep.join([*(f"{each}/bin" for each in beside), os.environ["PATH"]])
    with tempfile.TemporaryDirectory() as own:
        folders = dict.fromkeys(("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"), own)
        if environment.platforms:
            folders["JAX_PLATFORMS"] = environment.platforms
        # What other versions of libraries are warned of is not ours to mend.
        quiet = ["-ofilterwarnings=default"] if environment.packages else []
        command = [python, "-m", "tests", "-q", "-pno:cacheprovider", *quiet]
        done = subprocess.run(
            [*command, *environment.tests, *arguments],
            cwd=ROOT,
            env={**os.environ, **folders, "PYTHONPATH": path, "PATH": programs},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    seconds = time.monotonic() - start
    told = versions(python, path, environment.named)
    counts, *flaky = ending(done.stdout)
    skips = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    print(f"{counts}: {title} ({told}), {seconds:.0f} s", *skips, *flaky, sep="\n", flush=True)
    return done.returncode == 0


def ending(printed: str) -> list[str]:
    """The counts that `python -m tests` prints, and which tests passed only when run again."""
    lines = printed.splitlines()
    found = [n for n, line in enumerate(lines) if re.fullmatch(r"\d+ passed, .*", line)]
    return lines[found[-1] :] if found else ["no test"]


def versions(python: str, path: str, names: tuple[str, ...]) -> str:
    """The versions that matter."""
    code = f"from importlib.metadata import version as v\nfor n in {names}: print(n, v(n))"
    told = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    return ", ".join(told.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main())
