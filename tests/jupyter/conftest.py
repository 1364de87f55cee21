"""One kernel and one terminal, which are as new for the tests of each file."""

from collections.abc import Iterator

import pytest

from tests.jupyter.kernel import Kernel
from tests.jupyter.terminal import Terminal
from tests.shell import NO_COLOURS, Shell

#: Without colours a traceback takes a sixth of the time; papermill and Run All have them.
ANEW = f"%reset -f\n%reload_ext ipyjaxbench\n%colors {NO_COLOURS}"


@pytest.fixture(scope="session")
def _one_kernel() -> Iterator[Kernel]:
    kernel = Kernel()
    yield kernel
    kernel.close()


@pytest.fixture(scope="session")
def _one_terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path_factory.mktemp("ipython"))
    yield terminal
    terminal.close()


@pytest.fixture(scope="module")
def kernel(_one_kernel: Kernel) -> Kernel:
    """A kernel that has the magics and no names."""
    _one_kernel.run(ANEW)
    return _one_kernel


@pytest.fixture(scope="module")
def terminal(_one_terminal: Terminal) -> Terminal:
    """IPython in a terminal, which has the magics and no names."""
    _one_terminal.type(ANEW)
    return _one_terminal


@pytest.fixture
def ready(shell: Shell) -> Shell:
    """A shell with what the uses of magics need."""
    import numpy as np

    shell.names.update(np=np, a=np.arange(9.0))
    for name in ("one", "two"):
        shell.run(f"%fwtime -q -b 0.02 --name {name} sum(range(100))")
    return shell
