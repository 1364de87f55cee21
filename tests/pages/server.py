"""A Jupyter server that knows nothing of the user's settings, files and trusted notebooks."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.waiting import wait_until

_TOKEN = "pages"
#: That of another JupyterLab, such as the oldest one that is supported.
PYTHON = os.environ.get("IPYJAXBENCH_PAGES_PYTHON", sys.executable)
_OPTIONS = (
    "--no-browser",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.allow_root=True",
    "--ServerApp.quit_button=False",
    f"--IdentityProvider.token={_TOKEN}",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.extension_manager=readonly",
    "--JupyterNotebookApp.expose_app_in_browser=True",
)


class Server:
    """JupyterLab and Notebook 7, in a folder.

    Args:
        folder: where notebooks are; settings and trust are kept beside them.
        options: of the command line, besides those that all have.
        base: of its URLs.
    """

    def __init__(self, folder: Path, options: Sequence[str] = (), base: str = "/") -> None:
        self.folder = folder
        self.base = base
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._log = (folder / "server.log").open("w")
        self._process = subprocess.Popen(
            [PYTHON, "-m", "jupyterlab", *_OPTIONS, *options, f"--ServerApp.port={self.port}",
             f"--ServerApp.root_dir={folder}", f"--ServerApp.base_url={base}"],
            stdout=self._log, stderr=self._log, cwd=folder,
            env=environment(folder), start_new_session=True,
        )  # fmt: skip
        self._wait()

    def url(self, page: str) -> str:
        """The address of a page, with what opens it and nothing else that was open before."""
        and_more = "&" if "?" in page else "?"
        return f"http://127.0.0.1:{self.port}{self.base}{page}{and_more}token={_TOKEN}&reset"

    def _wait(self) -> None:
        def answers() -> bool:
            assert self._process.poll() is None, (self.folder / "server.log").read_text()
            try:
                with urllib.request.urlopen(self.url("api/status"), timeout=5):
                    return True
            except OSError:
                return False

        wait_until(answers)

    def stop(self) -> None:
        """End the server with its kernels."""
        os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._log.close()


def environment(folder: Path) -> dict[str, str]:
    """The variables of a Jupyter whose own files are in the folder."""
    own = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data",
           "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython",
           "JUPYTERLAB_SETTINGS_DIR": "settings",
           "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}  # fmt: skip
    kept = {name: str(folder / ".jupyter" / value) for name, value in own.items()}
    package = str(Path(__file__).parents[2])
    return {**os.environ, **kept, "PYTHONPATH": package, "EXAMPLE_SIZE": "500",
            "TF_CPP_MIN_LOG_LEVEL": "3", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}  # fmt: skip


def configure(folder: Path, theme: str) -> None:
    """Have pages that are opened from now on in "Light" or in "Dark", without questions."""
    settings = folder / ".jupyter/settings/@jupyterlab/apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    news = {"fetchNews": "false", "checkForUpdates": False}
    kept = {"themes": {"theme": f"JupyterLab {theme}"}, "notification": news}
    for name, values in kept.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
