"""What the API refuses, and why; the text is for whoever asked."""


class QueryError(Exception):
    """An argument breaks a rule; the text names both."""


class NotFoundError(Exception):
    """What is asked for does not exist."""
