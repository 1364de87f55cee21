"""Real engines of ipyparallel on this machine."""

import contextlib
import importlib.util
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.waiting import wait_until

_SECONDS = 60
_START = {
    "alone": "",
    "jax": """
import jax
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_cpu_collectives_implementation", "gloo")
if devices > 1:
    jax.config.update("jax_num_cpu_devices", devices)
jax.distributed.initialize(address, size, rank)
""",
    "torch": """
import torch.distributed
torch.distributed.init_process_group(
    "gloo", init_method=f"tcp://{address}", rank=rank, world_size=size
)
""",
}
#: By kind: what all ranks compute together; with a collective where they are of one job.
_COMPUTE = {
    "alone": """
import numpy
x, compute = numpy.ones((96, 96)), lambda x: x @ x
""",
    "jax": """
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec
rows = NamedSharding(Mesh(numpy.array(jax.devices()), ("d",)), PartitionSpec("d"))
whole = numpy.ones((96, 96), numpy.float32)
x = jax.make_array_from_callback(whole.shape, rows, whole.__getitem__)
compute = jax.jit(lambda x: (x @ x.T).sum())
""",
    "torch": """
import torch
x = torch.ones(96, 96)
def compute(x):
    y = x @ x
    torch.distributed.all_reduce(y)
    return y
""",
}
_STEP = """
import itertools, time
late, fails_at, failing = 0.0, 0, 0
calls, armed = itertools.count(1), itertools.count(1)
def step(x):
    next(calls)
    if 0 < fails_at <= (number := next(armed)):
        if rank == failing and number == fails_at:
            raise ValueError("no data")
        return x
    if late:
        time.sleep(late)
    return compute(x)
"""


def need(library: str) -> None:
    """Skip the test where a library is not installed; it is not imported here."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")


@contextmanager
def engines(kind: str, n: int = 2, devices: Sequence[int] = ()) -> Iterator[Any]:
    """Start n engines and stop them; give their client.

    They are "alone", or the ranks of a job of a framework: "jax", where each has so many devices,
    or "torch". Each finds its number as ``rank``, and n as ``size``.
    """
    ipyparallel: Any = pytest.importorskip("ipyparallel")
    if kind != "alone":
        need(kind)
    with tempfile.TemporaryDirectory() as folder, no_process_left():
        cluster = ipyparallel.Cluster(n=n, profile_dir=folder, log_level=40, delay=0)
        try:
            client = cluster.start_and_connect_sync(activate=False)
            start_job(client[:], kind, devices)
            processes = client[:].apply_sync(os.getpid)
            yield client
            client.close()
            for process in processes:  # ranks that end in order wait for each other
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        finally:
            cluster.stop_cluster_sync()


def be_rank(kind: str, rank: int, size: int, port: int) -> tuple[Any, Any]:
    """Make this process a rank of a job; return what all ranks compute, and its argument."""
    names = {"rank": rank, "size": size, "devices": 1, "address": f"127.0.0.1:{port}"}
    exec(_START[kind] + _COMPUTE[kind], names)
    return names["compute"], names["x"]


def start_job(view: Any, kind: str, devices: Sequence[int] = ()) -> None:
    """Make engines the ranks of one job of a kind, in the order of a view."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    for rank, target in enumerate(view.targets):
        own = {"rank": rank, "size": len(view.targets), "address": address}
        own["devices"] = devices[rank] if devices else 1
        view.client[target].push(own, block=True)
    view.execute(_START[kind], block=False).get(_SECONDS)


def define_step(view: Any, kind: str) -> None:
    """Define on engines of a kind ``step``, and ``x``, with which it is called.

    A rank sets ``late`` to the seconds that it sleeps in each call. All ranks set ``fails_at`` to
    the number of a call, from then on, in which the rank ``failing`` raises: after it none waits
    for others. The next number of ``calls`` says how often it was called.
    """
    view.execute(_COMPUTE[kind] + _STEP, block=False).get(_SECONDS)


def press_ctrl_c_when_reached(folder: Path, number: int = 2) -> str:
    """Interrupt this process when so many engines have come to a place in their code.

    Each leaves a file in an empty folder. Returns the expression that stands at that place.
    """

    def press() -> None:
        wait_until(lambda: len([*folder.iterdir()]) == number)
        time.sleep(0.5)  # until they wait in what comes next
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    return f"__import__('pathlib').Path({str(folder)!r}, str(__import__('os').getpid())).touch()"


@contextmanager
def no_process_left() -> Iterator[None]:
    """End what was started meanwhile and has not ended: by its number, never by its name."""
    before = _children()
    started: set[psutil.Process] = set()
    try:
        yield
    finally:
        started = _children() - before
        for process in psutil.wait_procs(started, timeout=3)[1]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def _children() -> set[psutil.Process]:
    """All processes below this one, but Python's own that lives as long as this one."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "multiprocessing.resource_tracker" not in " ".join(process.cmdline()):
                found.add(process)
    return found
