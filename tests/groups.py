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
_OF_SERVER = "-ppytest_jupyter.jupyter_server"  # it looks at a server after each test
_QUICK_SECONDS = 150  # until no test begins; what began before ends within 180


def groups() -> list[list[str]]:
    """Paths and options for pytest, for each process, the longest first."""
    of_one = [sorted(HERE.glob(f"adapters/{name}/test_*.py")) for name in FRAMEWORKS]
    of_several = sorted({*HERE.glob("adapters/**/test_*.py")}.difference(*of_one))
    own = [[*tests, ADAPTERS / name] for name, tests in zip(FRAMEWORKS, of_one, strict=True)]
    own = [[HERE / "cluster"], *own, of_several, [_HOSTILE]]
    others = [f"--ignore={path}" for paths in own for path in paths]
    groups = [["tests", "ipyjaxbench", *others], *([str(path) for path in paths] for paths in own)]
    return [*groups, [_OF_SERVER, str(HERE / "server")]]


def quick_groups() -> list[list[str]]:
    """Paths and options for pytest, for each process: the nearest tests to what was changed."""
    found: dict[str, list[str]] = {group_of(ALWAYS): [str(ALWAYS)]}
    for path in find_tests(changed_files()):
        if group := group_of(path):
            found.setdefault(group, []).append(str(path))
    within = f"--within={_QUICK_SECONDS * min(2 / len(found), 1):.0f}"
    plugins = {"server": [_OF_SERVER]}
    return [
        [*plugins.get(name, ()), "-pno:randomly", within, *dict.fromkeys(paths)]
        for name, paths in found.items()
    ]


def group_of(path: Path) -> str:
    """The process that a file of tests runs in; empty for those that are no part of these."""
    room, *below = path.relative_to(HERE).parts
    if room == "adapters":
        return below[0] if below[0] in FRAMEWORKS else "several"
    if path == _HOSTILE or room in ("cluster", "server"):
        return room
    return "" if room in _ELSEWHERE else "rooms"
