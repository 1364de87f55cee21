"""What the API refuses, and why; the text is for whoever asked."""

from tornado.web import HTTPError


class QueryError(Exception):
    """An argument breaks a rule; the text names both."""


class NotFoundError(Exception):
    """What is asked for does not exist."""


class RefusedError(HTTPError):
    """An HTTP error whose text is sent as it is; tornado doubles the per cent signs of others.

    Args:
        status: of HTTP.
        text: for whoever asked.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.text = text
