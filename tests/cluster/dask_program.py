"""Types into a shell that has a client of two of Dask's workers; prints what came of it as JSON.

A process of its own, since Dask sets variables of the environment.
"""

import json
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
from IPython.core.interactiveshell import InteractiveShell

import ipyjaxbench
from ipyjaxbench import Options
from ipyjaxbench.cluster import find_engines
from tests.cluster.engines import no_process_left, press_ctrl_c_when_reached
from tests.shell import Shell

TWICE = Options(number=2, repeat=2)


@contextmanager
def workers(n: int = 2) -> Iterator[Any]:
    """Start workers, each a process, and stop them; give their client."""
    with (
        no_process_left(),
        distributed.LocalCluster(n, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _told(act: Any, *args: Any, **options: Any) -> str:
    """What something returns, or raises, in one line."""
    try:
        found = act(*args, **options)
        text = found if isinstance(found, str) else repr(found)
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
    return " ".join(re.sub(r"\x1b\[[\d;]*m", "", text).split())


def _looks_at_workers(client: Any) -> int:
    """How many workers are there at each look, of a client that renews what it keeps all the time.

    What it asks for by itself are the totals, without the workers.
    """
    with (
        dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}),
        distributed.Client(client.scheduler.address, set_as_default=False) as eager,
    ):
        engines = find_engines("eager", {"eager": eager})
        return sum(engines.is_alive(index) for index in (0, 1) for _ in range(100))


def main() -> None:
    """Type all of it."""
    shell = Shell(InteractiveShell.instance())
    shell.run("%load_ext ipyjaxbench")
    factor, lock = 3, threading.Lock()

    def run(cell: str) -> Any:
        shell.run(cell)
        return shell.shown[-1].data["text/plain"]

    with workers() as client:
        shell.names["rc"] = client
        client.run(lambda: vars(__import__("__main__")).update(x=np.ones((64, 64))))
        sent = {"engines": client, "timer": TWICE}
        found = {
            "timed": _told(run, "%fwtime --engines all -b 0.05 (x @ x).sum()"),
            "one": _told(run, "%fwtime --engines 1 -b 0.05 (x @ x).sum()"),
            "located": _told(run, "%fwdevices --engines all x"),
            "raised": _told(run, "%fwtime --engines all -b 0.05 nix(x)"),
            "closure": _told(ipyjaxbench.measure, lambda a: a * factor, np.ones(4), **sent),
            "lock": _told(ipyjaxbench.measure, lambda _: lock, 1, **sent),
        }
        with tempfile.TemporaryDirectory() as folder:
            began = press_ctrl_c_when_reached(Path(folder))
            found["ctrl-c"] = _told(run, f"%fwtime --engines all -b 60 {began}")
        found["looks"] = _looks_at_workers(client)
        found["after"] = _told(run, "%fwtime --engines all -b 0.05 (x @ x).sum()")
    print("found", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
