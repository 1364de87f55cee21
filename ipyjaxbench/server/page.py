"""The page and the files that it loads, the same ones that the panel is made of."""

from pathlib import Path

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import AuthenticatedFileHandler, JupyterHandler
from tornado.web import HTTPError, authenticated

STATIC = Path(__file__).parent / "labextension" / "static"
#: Nothing from elsewhere, nothing inline; a gateway's own rules about frames stay.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'"
)


class PageHandler(JupyterHandler):
    """The page; who is not logged in is sent to the login."""

    @property
    def content_security_policy(self) -> str:
        """What the page may load."""
        return f"{super().content_security_policy}; {_POLICY}"

    @authenticated
    @authorized("read", "ipyjaxbench")
    def get(self) -> None:
        """Send the page."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish((STATIC / "page.html").read_bytes())


class StaticHandler(AuthenticatedFileHandler):
    """Modules and style sheets: only what is shipped, and only to those who are logged in."""

    @property
    def content_security_policy(self) -> str:
        """The page's policy: the sandbox of user's files would stop its modules."""
        return f"{super(AuthenticatedFileHandler, self).content_security_policy}; {_POLICY}"

    def parse_url_path(self, url_path: str) -> str:
        """Return the path of a file; none has a NUL in its name."""
        if "\0" in url_path:
            raise HTTPError(404)
        return str(super().parse_url_path(url_path))

    @authenticated
    @authorized("read", "ipyjaxbench")
    def head(self, path: str) -> object:
        """Send what `get` would say of the file."""
        return super(AuthenticatedFileHandler, self).head(path)

    @authenticated
    @authorized("read", "ipyjaxbench")
    def get(self, path: str, include_body: bool = True) -> object:  # noqa: FBT001, FBT002
        """Send a file."""
        return super(AuthenticatedFileHandler, self).get(path, include_body)
