"""What errors of the user's code say, in one line."""

from textwrap import shorten

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import plain_message, wrapped_error
from ipyjaxbench.usercode.objects import name_of

_MAX_CHARACTERS, _MIN_CHARACTERS = 220, 30  # fewer say too little alone


def message_of(error: BaseException) -> str:
    """Return all that an error says; "" where its class fails to."""
    try:
        return str(error)
    except CODE_ERRORS:  # the user's class of errors
        return ""


def shorten_message(error: BaseException) -> str:
    """Return the first line of a message; the next ones too where it is short, or leads on."""
    text = ""
    for line in plain_message(message_of(error)).splitlines():
        if len(text) >= _MIN_CHARACTERS and not text.endswith((":", ";")):
            break
        text = f"{text} {line.strip().removeprefix('* ')}".strip()
    return shorten(text, _MAX_CHARACTERS, placeholder=" …")


def describe_error(error: BaseException) -> str:
    """Return the class of an error and the first line of its message.

    Of one that holds the traceback of another, which it wraps, the same of that.
    """
    message = message_of(error)
    first, *_ = plain_message(message).splitlines() or [""]
    described = wrapped_error(message) or f"{name_of(type(error))}: {first}"
    described = described.rstrip(".: ")
    return shorten(described, 140, placeholder=" …")
