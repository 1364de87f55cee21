"""What pytest loads in each run: it imports the rest of the package when a test asks for it."""

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ipyjaxbench.benchmarks.fixture import Fixture
    from ipyjaxbench.benchmarks.run import Run

_RUN = pytest.StashKey["Run"]()
_SLOWER = pytest.StashKey[list[str]]()
_CALLED = "ipyjaxbench_fwbench_called"  # of a worker of pytest-xdist: how often it was called
_EXIT_STATUS = """
exit status: that of pytest: 0 all passed; 1 a test failed, or is slower by more than
--fwbench-fail-slower; 2 interrupted; 4 an option is wrong, or FILE cannot be read.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with ``--fwbench``."""
    group = parser.getgroup("fwbench", "fwbench (ipyjaxbench)", after="general")
    group.addoption(
        "--fwbench-json", metavar="FILE", help="write what fwbench measured to this file"
    )
    group.addoption(
        "--fwbench-compare",
        metavar="FILE|last",
        help="compare with the file of an earlier run, or with the last run here (of the history)",
    )
    group.addoption(
        "--fwbench-fail-slower",
        metavar="10%",
        help="fail a test that is slower by more than this for sure: the 95%% interval of the ratio"
        " and the fastest calls are beyond it, in two measurements, on the same machine and"
        " devices, which is not busier than before." + _EXIT_STATUS,
    )
    group.addoption(
        "--fwbench-quick",
        action="store_true",
        help="measure to +-5%%, at most 0.5 s each, instead of +-2%% and 2 s",
    )
    group.addoption(
        "--fwbench-disable", action="store_true", help="call each function once; measure nothing"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that are wrong before any test runs."""
    typed = {name: config.getoption(f"fwbench_{name}") for name in
             ("json", "compare", "fail_slower", "quick", "disable")}  # fmt: skip
    if any(typed.values()):
        _start(config)


def _start(config: pytest.Config) -> "Run":
    """Return what collects in this run of pytest, made when it is first needed."""
    run = config.stash.get(_RUN, None)
    if run is None:
        from ipyjaxbench.benchmarks.run import Run
        from ipyjaxbench.benchmarks.settings import read_settings
        from ipyjaxbench.errors import IpyJaxBenchError

        try:
            run = config.stash[_RUN] = Run(read_settings(config), _root(config))
        except IpyJaxBenchError as error:
            raise pytest.UsageError(str(error)) from None
    return run


@pytest.fixture
def fwbench(request: pytest.FixtureRequest) -> "Fixture":
    """Measure calls of a function, as ``%fwtime`` does; return what the function returns.

    Asynchronous work is waited for, compilation is measured apart, a coroutine function is awaited.
    After all tests one table shows what was measured.

    Returns:
        A function of the function and its arguments; `Fixture.options` says how to measure.

    Example:
        >>> # def test_step(fwbench):
        >>> #     loss = fwbench(step, params, batch)
        >>> #     assert loss < 1
    """
    from ipyjaxbench.benchmarks.fixture import Fixture

    run = _start(request.config)
    run.among = sum("fwbench" in getattr(i, "fixturenames", ()) for i in request.session.items)
    return Fixture(run, _name(request.node), request.node.stash.setdefault(_SLOWER, []))


@pytest.fixture
def max_traces() -> Callable[[int], AbstractContextManager[object]]:
    """Fail when more than ``n`` functions are traced or compiled in a block.

    Returns:
        A function of ``n`` that gives a context manager.

    Example:
        >>> # def test_step(max_traces):
        >>> #     with max_traces(1):
        >>> #         step(x); step(x)
    """
    from ipyjaxbench.retracing import keep_learning, trace_cached

    keep_learning()  # what the test compiles before the block is seen
    return trace_cached


def _root(config: pytest.Config) -> Path:
    """Return the folder that names begin at.

    pytest's own root folder moves with the values of options such as ``--fwbench-json /tmp/a.json``
    where there is no configuration file.
    """
    return config.inipath.parent if config.inipath else config.invocation_params.dir


def _name(item: pytest.Item) -> str:
    """Return the name of a test, from the root folder on."""
    inside = item.nodeid.partition("::")[2]
    return f"{Path(os.path.relpath(item.path, _root(item.config))).as_posix()}::{inside}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test that passed but for being slower."""
    result = yield
    if slower := item.stash.get(_SLOWER, []):
        pytest.fail("\n".join(slower), pytrace=False)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the file; a worker of pytest-xdist tells how often it called without measuring."""
    run = session.config.stash.get(_RUN, None)
    if run is None:
        return
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_CALLED] = run.called
    elif not run.write():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Count what workers of pytest-xdist called."""
    if called := getattr(node, "workeroutput", {}).get(_CALLED, 0):
        _start(node.config).called += called


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show the table."""
    run = config.stash.get(_RUN, None)
    if run is not None and (shown := run.summary()):
        terminalreporter.write_sep("-", "fwbench")
        terminalreporter.write_line(shown)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the file of the history."""
    run = config.stash.get(_RUN, None)
    if run is not None:
        run.close()
