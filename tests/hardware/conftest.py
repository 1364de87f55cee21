"""Frameworks with a GPU; what lacks one is skipped, and counted."""

import os
from typing import Any

import pytest

from tests.hardware.table import HEADING, Row

# Set before JAX starts: most of the memory is for the processes that tests start.
os.environ.update(XLA_PYTHON_CLIENT_PREALLOCATE="false")

_TABLE = pytest.StashKey[list[Row]]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin the table that the tests fill."""
    config.stash[_TABLE] = []


@pytest.fixture
def table(request: pytest.FixtureRequest) -> list[Row]:
    """The rows that are printed at the end."""
    return request.config.stash[_TABLE]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, right or wrong."""
    found = terminalreporter.config.stash[_TABLE]
    for line in [HEADING, *found] if found else []:
        terminalreporter.write_line(str(line))


@pytest.fixture(autouse=True)
def real_clock() -> None:
    """A device computes as long as it does: only the machine's clock shows it."""


@pytest.fixture(scope="session")
def cuda() -> Any:
    """PyTorch, where it has a GPU."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device for PyTorch here")
    return torch


@pytest.fixture(scope="session")
def gpu() -> Any:
    """JAX, where it has an accelerator."""
    jax = pytest.importorskip("jax")
    if jax.default_backend() not in ("gpu", "tpu"):
        pytest.skip("there is no accelerator for JAX here")
    return jax


@pytest.fixture(scope="session")
def tf() -> Any:
    """TensorFlow, where it has a GPU."""
    tensorflow = pytest.importorskip("tensorflow")
    if not tensorflow.config.list_physical_devices("GPU"):
        pytest.skip("there is no GPU for TensorFlow here")
    return tensorflow
