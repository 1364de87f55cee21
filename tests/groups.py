"""Which tests run in which process."""

from pathlib import Path

from tests.nearest import changed_files, find_tests

HERE = Path(__file__).parent
ADAPTERS = HERE.parent / "ipyjaxbench" / "adapters"
FRAMEWORKS = ("jax", "torch", "tensorflow")
#: One call of every magic in every framework.
ALWAYS = HERE / "adapters" / "test_every_magic.py"
#: Folders whose tests need a device, a browser or another environment: they are legs of `.ci/run`.
_ELSEWHERE = ("accuracy", "async_platform", "async_torch", "chips", "hardware", "pages")
_HOSTILE = HERE / "jupyter" / "test_hostile_objects.py"  # of magics, without frameworks
#: The only ones of their folders that import frameworks, which takes ten seconds.
_WITH_FRAMEWORKS = {HERE / "frameworks" / "test_other_writers.py",
                    HERE / "recordings" / "test_profiles.py", HERE / "steps" / "test_frameworks.py",
                    HERE / "steps" / "test_wait_hooks.py"}  # fmt: skip
#: One looks at a server after each test; the other has PyTorch write all that it does as JSON.
_PLUGINS = {"server": ["-ptests.light_imports", "-ppytest_jupyter.jupyter_server"],
            "torch": ["-pno:logging"], "several": ["-pno:logging"]}  # fmt: skip
#: Processes, in the order in which they begin: the longest first, so that none is alone at the end.
_PROCESSES = ("jax", "sessions", "torch", "several", "rooms", "tensorflow", "cluster", "server",
              "hostile")  # fmt: skip
_QUICK_SECONDS = 150  # until no test begins; what began before ends within 180


def groups() -> list[list[str]]:
    """Paths and options for pytest, for each process."""
    found: dict[str, list[str]] = {name: [] for name in _PROCESSES}
    for path in sorted(HERE.rglob("test_*.py")):
        if group := group_of(path):
            found[group].append(str(path))
    for name, plugins in _PLUGINS.items():
        found[name] = [*plugins, *found[name]]
    adapters = [str(ADAPTERS / name) for name in FRAMEWORKS]
    for name, path in zip(FRAMEWORKS, adapters, strict=True):
        found[name].append(path)
    found["rooms"] += ["ipyjaxbench", *(f"--ignore={path}" for path in adapters)]
    return [*found.values()]


def quick_groups() -> list[list[str]]:
    """Paths and options for pytest, for each process: the nearest tests to what was changed."""
    found: dict[str, list[str]] = {group_of(ALWAYS): [str(ALWAYS)]}
    for path in find_tests(changed_files()):
        if group := group_of(path):
            found.setdefault(group, []).append(str(path))
    within = f"--within={_QUICK_SECONDS * min(2 / len(found), 1):.0f}"
    return [
        [*plugins_of(name), "-pno:randomly", within, *dict.fromkeys(paths)]
        for name, paths in found.items()
    ]


def plugins_of(group: str) -> list[str]:
    """Options for pytest that the tests of a process need."""
    return _PLUGINS.get(group, [])


def group_of(path: Path) -> str:
    """The process that a file of tests runs in; empty for those that are no part of these."""
    room, *below = path.relative_to(HERE).parts
    if room == "adapters":
        return below[0] if below[0] in FRAMEWORKS else "several"
    if path in _WITH_FRAMEWORKS:
        return "several"
    if path == _HOSTILE:
        return "hostile"
    if room in ("cluster", "server"):
        return room
    if room in ("benchmarks", "jupyter") or not below:
        return "sessions"  # with kernels, terminals and other processes of their own
    return "" if room in _ELSEWHERE else "rooms"
