"""What was measured, in a browser: a read-only API for jupyter_server, one page, a panel.

jupyter_server loads this module at its start, so it imports nothing; `extension.add_routes` adds
the handlers. Each answer is made by a function of plain values: `history`, `notebook`, `compare`,
`machine` and `live` read what kernels wrote and never run anything in a kernel. `labextension`
holds the JavaScript that page and panel share, as it is shipped. Nobody imports this room.
"""

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell jupyter_server which module to load."""
    return [{"module": "ipyjaxbench.server"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    """Add the page and its API to a server; jupyter_server calls this at its start."""
    from ipyjaxbench.server.extension import add_routes

    add_routes(server_app)
