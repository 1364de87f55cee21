"""The house: rooms with faces, no circles, short files."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ipyjaxbench

PACKAGE = Path(ipyjaxbench.__file__).parent
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
#: Only loaded by name, and by IPython.
CLOSED = {"adapters", "jupyter"}
#: What collects while something runs; all other dataclasses are values.
COLLECTING = {
    *("Analysis", "ArmSpec", "FakeArray", "FakeDevice", "NoChoiceError", "QueuedCalls", "Samples"),
    *("Row", "Sources", "StaticValues", "Steady", "_Known", "_Reached"),
}


def modules() -> dict[str, Path]:
    """All modules of the package by their dotted names."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def nodes(path: Path) -> list[ast.ImportFrom | ast.Import | ast.ClassDef]:
    """What the tests ask for of a file, which is read once."""
    wanted = ast.ImportFrom, ast.Import, ast.ClassDef
    tree = ast.parse(path.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, wanted)]


@cache
def imports(path: Path) -> list[tuple[str, str]]:
    """What a file imports of the package: module and name, in functions and for types too."""
    found: list[tuple[str, str]] = []
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ipyjaxbench"):
            found += ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            found += ((a.name, "") for a in node.names if a.name.startswith("ipyjaxbench."))
    return found


def room(module: str) -> str:
    """The room that a module lies in; empty for the package's own files."""
    return next((part for part in module.split(".")[1:2] if part in ROOMS), "")


def exported(name: str) -> set[str]:
    """What the face of a room imports from it: that is what others may use."""
    tree = ast.parse((PACKAGE / name / "__init__.py").read_text("utf-8"))
    return {alias.asname or alias.name
            for node in tree.body if isinstance(node, ast.ImportFrom)
            for alias in node.names}  # fmt: skip


@pytest.mark.parametrize("own", sorted(set(ROOMS) - {"adapters"}))
def test_a_room_is_entered_through_its_face(own: str) -> None:
    face = set() if own in CLOSED else exported(own)
    past = [
        f"{importer} -> {module}.{name}"
        for importer, path in MODULES.items()
        if importer != "ipyjaxbench"
        for module, name in imports(path)
        if room(module) == own != room(importer)
        if module != f"ipyjaxbench.{own}" or name not in face
    ]
    assert past == []


def test_nobody_imports_adapters() -> None:
    importers = [m for m, path in MODULES.items() if room(m) != "adapters"
                 and any(room(module) == "adapters" for module, _ in imports(path))]  # fmt: skip
    assert importers == []


def test_a_face_names_nothing_that_nobody_uses() -> None:
    used = {(room(module), name) for path in (*MODULES.values(), PACKAGE / "__init__.pyi")
            for module, name in imports(path)}  # fmt: skip
    tests = "".join(p.read_text("utf-8") for p in Path(__file__).parent.rglob("*.py"))
    unused = [
        f"{each}.{name}"
        for each in sorted(set(ROOMS) - CLOSED)
        for name in sorted(exported(each))
        if (each, name) not in used and name not in tests
    ]
    assert unused == []


def arrows() -> dict[str, set[str]]:
    """Module -> modules that it imports, a face for what is taken from a face."""
    found: dict[str, set[str]] = {name: set() for name in MODULES}
    for importer, path in MODULES.items():
        for module, name in imports(path):
            target = f"{module}.{name}" if f"{module}.{name}" in MODULES else module
            if target in MODULES and target != importer:
                found[importer].add(target)
    return found


def test_no_module_imports_itself_on_any_way() -> None:
    left = arrows()
    while ends := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in ends:
            del left[name]
    assert sorted(left) == []  # what is left lies on a circle, or leads to one


def dataclasses_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Each dataclass in a file, and whether it is frozen."""
    for node in nodes(path):
        for decorator in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            if ast.unparse(decorator).partition("(")[0] == "dataclass":
                yield node.name, "frozen=True" in ast.unparse(decorator)


def test_a_dataclass_is_a_value_that_cannot_be_changed_or_collects() -> None:
    found = [each for path in MODULES.values() for each in dataclasses_of(path)]
    assert len(found) > 100
    assert {name for name, frozen in found if not frozen} == COLLECTING


def test_files_are_short() -> None:
    long = {name: n for name, path in MODULES.items()
            if (n := len(path.read_text("utf-8").splitlines())) > 300}  # fmt: skip
    assert max(long.values(), default=0) <= 400
    assert len(long) <= 5, long


def test_the_root_holds_few_files() -> None:
    assert len([path for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]) <= 13


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_says_what_lives_there_and_who_calls_it(name: str) -> None:
    doc = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text("utf-8")))
    assert doc is not None
    assert 4 <= len(doc.splitlines()) <= 8
