"""The store of JAX's coordination service, in its newer and its older versions."""

import json
import socket
import subprocess
import sys

from jax._src.lib import xla_client

from ipyjaxbench.adapters.jax import coordination

_CLIENT = getattr(xla_client, "_xla", xla_client).DistributedRuntimeClient


def test_a_store_writes_waits_looks_and_counts() -> None:
    kinds = ["_QuickJob", "_PlainJob"]
    if coordination._lacks(_CLIENT, *coordination._QUICK):
        kinds.remove("_QuickJob")  # this version of JAX does not count in the store
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = subprocess.run(
        [sys.executable, "-m", "tests.adapters.jax.store_program", str(port), *kinds],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    assert len(lines) == len(kinds), done.stderr[-2000:]
    for line in lines:
        assert json.loads(line.removeprefix("found ")) == {
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
