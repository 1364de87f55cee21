"""Tests decide by what is the same on every machine: they read no clock, and wait for events."""

import ast
import re
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
#: Benchmarks, which measure, and legs on devices, whose work goes on in the background.
_MEASURING = ("accuracy", "hardware", "async_platform", "async_torch")
#: What runs tests, a benchmark that no test runs, and the one place that waits.
_RUNNING = ("__main__.py", "matrix.py", "mutations/judge.py", "outcomes.py", "waiting.py",
            "server/benchmark.py")  # fmt: skip
_READ = ("monotonic", "perf_counter", "process_time", "thread_time")
_CLOCK = {"sleep", *_READ, *(f"{name}_ns" for name in _READ)}
#: What stands in each file that does either: the others need not be read.
_MAY = re.compile(rf"\btime\W+(?:{'|'.join(_CLOCK)})|\bfrom\s+time\b|\bClock\W+elapsed")
#: How often files still do: work that takes a while on purpose, tests of the clock itself, and
#: `Clock.elapsed`, which is the scripted clock in a test, and the machine's in a module. A number
#: may only fall: waits belong into `tests.waiting`, durations into `tests.accuracy`.
LEFT = {
    "adapters/jax/test_synchronization.py": 1,
    "adapters/late.py": 1,
    "cluster/engines.py": 1,
    "cluster/test_bad_engines.py": 1,
    "cluster/test_network.py": 1,
    "cluster/test_network_on_engines.py": 1,
    "cluster/test_rendezvous.py": 3,
    "host/test_conditions.py": 2,
    "host/test_system.py": 4,
    "pages/test_converters.py": 1,
    "steps/test_frameworks.py": 1,
    "timing/test_deferred_values.py": 1,
}


def uses_of_clock(source: str) -> int:
    """Count where code reads a clock or sleeps, other than in a test that has the real clock."""
    found = 0
    waiting: list[ast.AST] = [ast.parse(source)] if _MAY.search(source) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef) and _has_the_clock(node):
            continue
        found += isinstance(node, ast.Attribute) and (
            (ast.unparse(node.value) == "time" and node.attr in _CLOCK)
            or (ast.unparse(node) == "Clock.elapsed")  # the package's own
        )
        found += isinstance(node, ast.ImportFrom) and node.module == "time"
        waiting += ast.iter_child_nodes(node)
    return found


def _has_the_clock(test: ast.FunctionDef) -> bool:
    head = (*test.decorator_list, test.args)
    return any("real_clock" in ast.unparse(each) for each in head)


def test_no_test_reads_a_clock_or_sleeps() -> None:
    files = {str(path.relative_to(HERE)): path for path in HERE.rglob("*.py")}
    found = Counter(
        {
            name: uses_of_clock(path.read_text("utf-8"))
            for name, path in files.items()
            if not name.startswith(_MEASURING) and name not in _RUNNING
        }
    )
    assert +found == Counter(LEFT)


def test_uses_are_counted() -> None:
    assert uses_of_clock("import time\nstart = time.perf_counter()\ntime.sleep(1)") == 2
    assert uses_of_clock("from time import monotonic_ns") == 1
    assert uses_of_clock("now = time.time()  # a date") == 0
    assert uses_of_clock("measure(clock=Clock.elapsed())") == 1
    assert uses_of_clock("@pytest.mark.usefixtures('real_clock')\ndef test(): time.sleep(1)") == 0
    assert uses_of_clock("def test(real_clock):\n    time.sleep(1)\ntime.sleep(2)") == 1
