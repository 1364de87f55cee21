"""The store of JAX's coordination service, in its newer and its older versions."""

import json
import socket
import subprocess
import sys

import pytest
from jax._src.lib import xla_client

from ipyjaxbench.adapters.jax import coordination

_CLIENT = getattr(xla_client, "_xla", xla_client).DistributedRuntimeClient


@pytest.mark.parametrize("kind", ["_QuickJob", "_PlainJob"])
def test_a_store_writes_waits_looks_and_counts(kind: str) -> None:
    if kind == "_QuickJob" and coordination._lacks(_CLIENT, *coordination._QUICK):
        pytest.skip("this version of JAX does not count in the store")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = subprocess.run(
        [sys.executable, "-m", "tests.adapters.jax.store_program", kind, str(port)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert lines, done.stderr[-2000:]
    assert json.loads(lines[0].removeprefix("found ")) == {
        "before": [None, None, 0],
        "put": None,
        "after": ["b'one'", "b'one'", None],
        "counted": [[*range(1, 41)], 40, 42],
    }


def test_methods_that_are_not_there_are_named() -> None:
    class Plain:
        def blocking_key_value_get_bytes(self) -> None: ...
        def key_value_set_bytes(self) -> None: ...

    class WithFolders(Plain):
        def key_value_dir_get_bytes(self) -> None: ...

    assert coordination._missing(WithFolders()) == []
    assert coordination._missing(Plain()) == [*coordination._QUICK]
    assert coordination._missing(object()) == [*coordination._METHODS, *coordination._QUICK]
