"""What a bug report needs: versions, devices, the machine. Looks, and starts nothing."""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ipyjaxbench import units
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.host import describe_machine, query_gpu_driver, query_gpus
from ipyjaxbench.record_types import Lines
from ipyjaxbench.reports import Result

_TOOLS = ("ipyjaxbench", "IPython", "ipykernel", "jupyter_client", "jupyterlab", "notebook",
          "traitlets")  # fmt: skip
#: Module -> the packages of which one or more bring it.
_PACKAGES = {
    "numpy": ("numpy",),
    "jax": ("jax", "jaxlib", "libtpu", "jax-cuda12-plugin", "jax-cuda13-plugin"),
    "torch": ("torch", "torch_xla"),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tf-nightly"),
    "keras": ("keras",),
}
_FRAMEWORK_VARIABLES = re.compile(
    r"(XLA|JAX|TF|TPU|LIBTPU|CUDA|NVIDIA|HIP|ROCR|OMP|KMP|MKL|OPENBLAS|NCCL|TORCH\w*|PYTORCH"
    r"|KERAS|IPYJAXBENCH)_\w+|LD_PRELOAD"
)
#: What may be nobody's business: passwords, and where other machines are.
_PRIVATE = re.compile(r"KEY|TOKEN|SECRET|PASS|CRED|AUTH|ADDR|HOST|URL|CONFIG", re.IGNORECASE)
_HOMES = re.compile(r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\][^/\\\s,:;]+")
_MAX_VALUE_CHARACTERS = 200
_MAX_NAMED_DEVICES = 4


@dataclass(frozen=True, repr=False)
class About(Result):
    """The magics, and what a bug report needs.

    Attributes:
        facts: lines with their labels, in the order in which they are read.
    """

    kind: ClassVar[str] = "about"

    facts: Lines

    @property
    def text(self) -> str:
        """The facts as plain text, for a bug report."""
        widest = max(len(label) for label, _ in self.facts)
        return "\n".join(f"{label:{widest}}  {fact}".rstrip() for label, fact in self.facts)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fact."""
        return [{"name": label.strip(), "value": fact} for label, fact in self.facts]

    def __repr__(self) -> str:
        """One line."""
        return f"<About {', '.join(f'{label} {fact}' for label, fact in self.facts[:2])}>"


def about() -> About:
    """List versions and devices for a bug report, as ``%ipyjaxbench`` does.

    Nothing is imported and no device is initialized.

    Returns:
        Versions, devices of initialized frameworks, the machine, and the environment variables
        that frameworks read, except those that may hold a secret.

    Example:
        >>> dict(about().facts)["python"].split()[0].count(".")
        2
    """
    return About((*_tools(), *_frameworks(), *_machine(), *_variables(os.environ)))


def _tools() -> Iterator[tuple[str, str]]:
    versions = {name: version for name in _TOOLS if (version := _version(name))}
    is_installed = versions.pop("ipyjaxbench", None) is not None
    # Of the code that runs: what an editable installation says may be older.
    version = str(vars(sys.modules["ipyjaxbench"])["__version__"])
    yield "ipyjaxbench", version + ("" if is_installed else ", not installed")
    here = describe_machine()
    yield "python", f"{here['python']} ({here['implementation']})"
    yield "front end", _front_end()
    yield from versions.items()


def _frameworks() -> Iterator[tuple[str, str]]:
    usable, broken = loaded()
    adapters = {each.module: each for each in usable if each.module != "builtins"}
    for module in dict.fromkeys((*_PACKAGES, *adapters)):
        names = _PACKAGES.get(module, (module,))
        versions = [f"{name} {v}" for name in names if (v := _version(name))]
        versions[:1] = [each.removeprefix(f"{module} ") for each in versions[:1]]
        if module in adapters:
            yield from _framework_facts(adapters[module], versions)
        elif versions:
            state = "imported" if module in sys.modules else "not imported"
            yield module, ", ".join([*versions, broken.get(module, state)])


def _framework_facts(framework: Framework, versions: list[str]) -> Iterator[tuple[str, str]]:
    facts = versions or [framework.version()]
    if not framework.capability(DeviceInventory).has_devices:
        yield framework.module, ", ".join([*facts, "imported"])
        return
    inventory = framework.capability(DeviceInventory)
    home = inventory.devices()
    state = "initialized" if home.started else "imported, not initialized"
    yield framework.module, ", ".join([*facts, state])
    alike: dict[tuple[str, int | None], list[str]] = {}
    for device in home.devices:
        alike.setdefault((device.kind, device.limit), []).append(device.name)
    for (kind, limit), names in alike.items():
        which = (
            ", ".join(names) if len(names) <= _MAX_NAMED_DEVICES else f"{names[0]} to {names[-1]}"
        )
        memory = f"{units.size(limit)} each" if limit is not None else ""
        yield "  devices", ", ".join(each for each in (which, kind, memory) if each)
    if home.started and (threads := inventory.threads()) is not None:
        yield "  threads", f"{threads} per operation on the CPU"


def _machine() -> Iterator[tuple[str, str]]:
    here = describe_machine()
    yield "platform", str(here["platform"])
    quota = f", {here['cpu_quota']:g} by quota" if here["cpu_quota"] is not None else ""
    usable = f"{here['usable_cpus']} of {here['cpus']} CPUs usable{quota}"
    yield "cpu", ", ".join(str(each) for each in (here["cpu"], usable) if each)
    if driver := query_gpu_driver():
        gpus = Counter(gpu.name for gpu in query_gpus())
        yield "gpu", ", ".join([*(f"{n} × {name}" for name, n in gpus.items()), f"driver {driver}"])
    memory, limit = here["memory"], here["memory_limit"]
    if memory is not None:
        group = f", {units.size(int(limit))} by the control group" if limit is not None else ""
        yield "memory", f"{units.size(int(memory))}{group}"


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield those that frameworks read, without the user's name and home."""
    for name in sorted(environ):
        value = environ[name]
        is_private = _PRIVATE.search(name) or ("://" in value and "@" in value)
        if _FRAMEWORK_VARIABLES.fullmatch(name) and not is_private:
            shown = " ".join(_without_user(value).split())[:_MAX_VALUE_CHARACTERS]
            yield "variable", f"{name}={shown}"


def _without_user(value: str) -> str:
    """Return a value with ``~`` for homes, and ``USER`` where a folder is named for the user."""
    home = str(Path.home())
    shown = value.replace(home, "~") if len(home) > 1 else value
    shown = _HOMES.sub("~", shown)
    users = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")}
    for user in users - {"", "root"}:
        shown = re.sub(rf"(?<![\w-]){re.escape(user)}(?![\w-])", "USER", shown)
    return shown


def _front_end() -> str:
    """Return where this runs, as far as the process can tell: not which page shows it."""
    main = vars(sys.modules["__main__"])
    known = (
        ("google.colab" in sys.modules, "Colab"),
        ("KAGGLE_KERNEL_RUN_TYPE" in os.environ, "Kaggle"),
        ("__vsc_ipynb_file__" in main, "VS Code"),
        ("JPY_SESSION_NAME" in os.environ, "JupyterLab or Notebook"),
        ("ipykernel.kernelapp" in sys.modules, "Jupyter kernel"),
        ("IPython.terminal.interactiveshell" in sys.modules, "IPython in a terminal"),
        ("IPython" in sys.modules, "IPython"),
    )
    return next((name for is_so, name in known if is_so), "Python")


def installed_version(module: str) -> str:
    """Return the version of a framework's package, without importing it; "" where unknown."""
    versions = (_version(name) for name in _PACKAGES.get(module, (module,)))
    return next((version for version in versions if version), "")


def _version(package: str) -> str | None:
    from importlib import metadata  # takes longer to import than all of this package

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
