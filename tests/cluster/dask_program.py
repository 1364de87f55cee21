"""Types into a shell that has a client of two of Dask's workers; prints what came of it as JSON.

A process of its own, since Dask sets variables of the environment.
"""

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import distributed
import numpy as np
from IPython.core.interactiveshell import InteractiveShell

import ipyjaxbench
from ipyjaxbench import Options
from tests.cluster.engines import no_process_left
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
        timer = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        found["ctrl-c"] = _told(run, "%fwtime --engines all -b 60 __import__('time').sleep(0.05)")
        timer.join()
        found["after"] = _told(run, "%fwtime --engines all -b 0.05 (x @ x).sum()")
    print("found", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
