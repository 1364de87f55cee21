"""Types into a shell that has a client of two of Dask's workers; prints what came of it as JSON.

A process of its own, since Dask sets variables of the environment.
"""

import json
import os
import re
import signal
import threading
from typing import Any

import numpy as np
from IPython.core.interactiveshell import InteractiveShell

import ipyjaxbench
from ipyjaxbench import Options
from tests.cluster.engines import workers
from tests.shell import Shell

QUICK = Options(number=2, repeat=2)


def _run(shell: Shell, cell: str) -> str:
    """The report, or what was raised, in one line."""
    try:
        shell.run(cell)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return " ".join(shell.shown[-1].data["text/plain"].split())


def _call(function: Any, *args: Any, client: Any) -> str:
    try:
        return repr(ipyjaxbench.measure(function, *args, engines=client, timer=QUICK))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Type all of it."""
    shell = Shell(InteractiveShell.instance())
    shell.run("%load_ext ipyjaxbench")
    factor, lock = 3, threading.Lock()
    with workers() as client:
        shell.names["rc"] = client
        client.run(lambda: vars(__import__("__main__")).update(x=np.ones((64, 64))))
        found = {
            "timed": _run(shell, "%fwtime --engines all --quick (x @ x).sum()"),
            "one": _run(shell, "%fwtime --engines 1 --quick (x @ x).sum()"),
            "located": _run(shell, "%fwdevices --engines all x"),
            "raised": _run(shell, "%fwtime --engines all --quick nix(x)"),
            "closure": _call(lambda a: a * factor, np.ones(4), client=client),
            "lock": _call(lambda _: lock, 1, client=client),
        }
        timer = threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        found["ctrl-c"] = _run(
            shell, "%fwtime --engines all -b 60 __import__('time').sleep(0.05)"
        ).partition(":")[0]
        timer.join()
        found["after"] = _run(shell, "%fwtime --engines all --quick (x @ x).sum()")
    print("found", json.dumps({name: _plain(text) for name, text in found.items()}), flush=True)


def _plain(text: Any) -> Any:
    return re.sub(r"\x1b\[[\d;]*m", "", text) if isinstance(text, str) else text


if __name__ == "__main__":
    main()
