"""A pytest plugin: which functions of the package each test runs.

``pytest -p tests.mutations.ran --ran FILE`` writes a line of JSON for each test that passed: its
id, its seconds, and the functions, each as ``path:line``.
"""

import ast
import builtins
import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.mutations.source_hook import edit_sources

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAME = "_ipyjaxbench_ran"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ran", type=Path, required=True, help="the file that is written")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Writer(config.getoption("ran"), _RAN))


def mark(path: str, text: str) -> ast.Module:
    """Put into each function a call that says that it runs; without effect in other processes."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            call = f"getattr(__import__('builtins'), {_NAME!r}, str)('{path}:{node.lineno}')"
            (marking,) = ast.parse(call).body
            for part in ast.walk(marking):
                ast.copy_location(part, node.body[0])
            node.body.insert(ast.get_docstring(node) is not None, marking)
    return tree


class _Writer:
    def __init__(self, path: Path, ran: set[str]) -> None:
        self._file, self._ran = path.open("a", buffering=1), ran
        self._seconds, self._passed = 0.0, True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._ran.clear()
        self._seconds, self._passed = 0.0, True
        done = yield
        if self._passed:
            found = [item.nodeid, round(self._seconds, 3), sorted(self._ran)]
            self._file.write(f"{json.dumps(found)}\n")
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds += report.duration
        self._passed &= report.outcome == "passed"

    def pytest_unconfigure(self) -> None:
        self._file.close()


# Before pytest imports the package, which is a plugin of its own.
_RAN: set[str] = set()
setattr(builtins, _NAME, _RAN.add)
edit_sources(mark)
