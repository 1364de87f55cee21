"""Adds the routes of the page and of its API to a server."""

from typing import Any

from jupyter_server.utils import url_path_join
from tornado.web import url

from ipyjaxbench.server import handlers, page
from ipyjaxbench.server.lazy import LazyAnswers
from ipyjaxbench.server.settings import IpyJaxBenchServer

_ID, _PATH = r"(?P<id>[^/]+)", r"(?P<path>.+)"


def add_routes(server_app: Any) -> None:
    """Add all handlers below the server's base URL.

    Args:
        server_app: jupyter_server's ServerApp.
    """
    own = {"answers": LazyAnswers(), "settings_of_ours": IpyJaxBenchServer(parent=server_app)}
    root = url_path_join(server_app.web_app.settings["base_url"], "ipyjaxbench")
    api = url_path_join(root, "api")
    server_app.web_app.add_handlers(
        ".*$",
        [
            url(f"{api}/history", handlers.HistoryHandler, own),
            url(f"{api}/history/{_ID}", handlers.DetailsHandler, own),
            url(f"{api}/notebook/{_PATH}", handlers.NotebookHandler, own),
            url(f"{api}/compare", handlers.CompareHandler, own),
            url(f"{api}/machine", handlers.MachineHandler, own),
            url(f"{api}/live", handlers.LiveHandler, own),
            url(f"{root}/?", page.PageHandler),
            url(f"{root}/static/{_PATH}", page.StaticHandler, {"path": str(page.STATIC)}),
        ],
    )
