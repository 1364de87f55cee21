"""Nothing of the user's is changed: checked after every test."""

import builtins
import gc
import os
import signal
import sys
import warnings
from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from ipyjaxbench.host import CLOCKS
from ipyjaxbench.testing import FakeClock
from tests import light_imports as light_imports
from tests.bench import Bench
from tests.guards import time_no_guards
from tests.import_all import import_all
from tests.scripted import PER_CALL, IdleMachine
from tests.time_limits import extend_time_limits
from tests.trees import Tree

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from tests.shell import Shell


# Examples are slow where other programs have the CPUs, and no worse for that.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
gc.disable()  # until all is imported


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[object], list[object]]:
    """Examples in docstrings are the package's: none is looked for below this folder."""
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


def pytest_collection_finish() -> None:
    """All is imported before a test replaces any of it, and has more time than in a session.

    What is there before the first test is no garbage: looking through it takes a second.

    The adapters to PyTorch and TensorFlow, though, look there for functions of tests.
    """
    import_all()
    extend_time_limits()
    time_no_guards()
    gc.enable()
    if not {"torch", "tensorflow"} & sys.modules.keys():
        gc.collect()
        gc.freeze()


def _state() -> dict[str, object]:
    return {
        "gc": gc.isenabled(),
        "cwd": os.getcwd(),
        "environment": dict(os.environ),
        "stdout": sys.stdout,
        "trace": sys.gettrace(),
        "recursion limit": sys.getrecursionlimit(),
        "warning filters": list(warnings.filters),
    }


@pytest.fixture(autouse=True, scope="session")
def no_data_of_the_developer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What magics keep beside a notebook goes into a folder of the tests, of kernels too."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("jupyter")
        patch.setenv("JUPYTER_DATA_DIR", str(home))
        (home / "ipyjaxbench" / "history").mkdir(parents=True)
        (home / "ipyjaxbench" / "history" / "README.txt").touch()  # where they are kept was said
        yield


@pytest.fixture(autouse=True, scope="session")
def can_be_interrupted() -> Iterator[None]:
    """Tests can be interrupted, and what they start, also where they run in the background.

    A shell has background processes ignore Ctrl-C, and what these start ignores it too.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """Fail the test that leaves the process in another state than it found."""
    before = _state()
    yield
    after = _state()
    for state in (before, after):  # pytest sets this one itself
        state["environment"].pop("PYTEST_CURRENT_TEST", None)  # type: ignore[attr-defined]
    changed = [name for name in before if before[name] != after[name]]
    assert not changed, f"left changed: {changed}"


@pytest.fixture(scope="module")
def frameworks_are_no_garbage() -> Iterator[None]:
    """To look through all that they keep takes a second, and adapters look for users' objects."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A device that has nothing to do at moment 0."""
    return Bench(monkeypatch)


@pytest.fixture(autouse=True)
def scripted_clock(request: pytest.FixtureRequest) -> Iterator[FakeClock | None]:
    """What is timed takes `PER_CALL` in each call, on every machine, which does nothing else.

    Code that moves the clock takes longer by that. With the fixture ``real_clock`` there is none.
    """
    if "real_clock" in request.fixturenames:
        yield None
        return
    clock = FakeClock(per_call=PER_CALL)
    with pytest.MonkeyPatch.context() as patch:  # a test's own ends before other fixtures do
        for name in CLOCKS:
            patch.setitem(CLOCKS, name, lambda: clock)
        for name in ("timing.steady_state", "comparison.interleave"):
            patch.setattr(f"ipyjaxbench.{name}.Meter", IdleMachine)
        yield clock


@pytest.fixture
def real_clock() -> None:
    """Samples are read from the machine's clock."""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty tree of files."""
    return Tree(tmp_path)


@pytest.fixture(scope="session")
def _one_shell() -> "InteractiveShell":
    from IPython.terminal.interactiveshell import TerminalInteractiveShell
    from traitlets.config import Config

    from tests.shell import NO_COLOURS

    config = Config()
    config.HistoryManager.enabled = False  # what tests type is none of the user's history
    config.TerminalInteractiveShell.simple_prompt = True
    config.InteractiveShell.colors = NO_COLOURS
    shell = TerminalInteractiveShell.instance(config=config)
    shell.run_cell("%load_ext ipyjaxbench").raise_error()  # traces are seen from its end on
    return shell


@pytest.fixture
def shell(_one_shell: "InteractiveShell") -> "Iterator[Shell]":
    """A shell with the magics; what a test binds and keeps in it is gone afterwards."""
    from tests.shell import Shell, forget

    # Examples in docstrings leave one, and where Python has it IPython binds none itself.
    vars(builtins).pop("_", None)
    names, hidden = _one_shell.user_ns, _one_shell.user_ns_hidden
    of_compiler = _names_of_compiler(names)
    before = {name: value for name, value in names.items() if name not in of_compiler}
    hidden_before = dict(hidden)
    hook = vars(_one_shell.displayhook)
    last = {name: hook[name] for name in ("_", "__", "___")}  # bound where names still have them
    shell = Shell(_one_shell)
    session = shell.session
    yield shell
    forget(session)
    getattr(_one_shell.compile, "_filename_map", {}).clear()  # cells of tests have one number
    for name in set(names) - _names_of_compiler(names):
        del names[name]
    names.update(before)
    names["_oh"].clear()  # outputs, which the session keeps
    hook.update(last)
    hidden.clear()
    hidden.update(hidden_before)


def _names_of_compiler(names: dict[str, object]) -> set[str]:
    """Those that PyTorch's compiler put there; it removes them itself when its code dies."""
    utils = sys.modules.get("torch._dynamo.utils")
    hooks = chain.from_iterable(utils.CleanupManager.instance.values.values()) if utils else ()
    return {hook.name for hook in hooks if hook.scope is names}
