"""Loading is instant and touches nothing: seen from a fresh process."""

import subprocess
import sys
from pathlib import Path

import pytest

import ipyjaxbench

HEAVY = ("numpy", "rich", "jinja2", "msgspec", "psutil", "jax", "torch", "tensorflow")
LOADED = f"import sys; print([m for m in {HEAVY} if m in sys.modules])"
SHELL = "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance(); "


def loaded_by(code: str) -> str:
    command = [sys.executable, "-c", f"{code}\n{LOADED}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "code",
    [
        "import ipyjaxbench, sys; assert 'IPython' not in sys.modules",
        SHELL + "s.run_line_magic('load_ext', 'ipyjaxbench')",
    ],
)
def test_loading_imports_nothing_heavy(code: str) -> None:
    assert loaded_by(code) == "[]"


def test_this_way_of_looking_sees_what_is_loaded() -> None:
    assert loaded_by("import numpy") == "['numpy']"


def test_timing_plain_python_imports_no_framework() -> None:
    code = "import ipyjaxbench; str(ipyjaxbench.measure_code('1 + 1', {}, number=2, repeat=2))"
    assert loaded_by(code) == "['rich', 'msgspec']"


def test_the_engine_is_loaded_when_it_is_first_used() -> None:
    code = SHELL + "s.run_cell('%load_ext ipyjaxbench'); import sys; seen = set(sys.modules); "
    code += "s.run_cell('r = %fwtime -q -n 1 -r 2 1 + 1'); timer = 'ipyjaxbench.timing.measure'; "
    code += "assert timer not in seen and timer in sys.modules, seen"
    loaded_by(code)


def test_no_module_takes_the_place_of_a_public_name() -> None:
    here = Path(ipyjaxbench.__file__).parent
    modules = {path.stem for path in (*here.glob("*.py"), *here.glob("*/__init__.py"))}
    assert modules.isdisjoint(ipyjaxbench.__all__)
    assert {"measure", "Measurement", "graph"} <= set(ipyjaxbench.__all__)
