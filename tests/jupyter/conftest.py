"""One kernel and one terminal for the tests of a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jupyter.kernel import Kernel
from tests.jupyter.terminal import Terminal
from tests.shell import Shell


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    """A kernel with the magics."""
    kernel = Kernel()
    kernel.run("%load_ext ipyjaxbench")
    yield kernel
    kernel.close()


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """IPython in a terminal, with the magics."""
    terminal = Terminal(Path(tmp_path_factory.mktemp("ipython")))
    terminal.type("%load_ext ipyjaxbench")
    yield terminal
    terminal.close()


@pytest.fixture
def ready(shell: Shell) -> Shell:
    """A shell with what the uses of magics need."""
    import numpy as np

    shell.names.update(np=np, a=np.arange(9.0))
    for name in ("one", "two"):
        shell.run(f"%fwtime -q -b 0.02 --name {name} sum(range(100))")
    return shell
