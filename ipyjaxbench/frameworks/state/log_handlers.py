"""Levels and handlers of loggers, and where handlers leave records."""

import logging
from typing import Any

from ipyjaxbench.frameworks.state.names import AttributeNames
from ipyjaxbench.frameworks.state.undo import Holder, State
from ipyjaxbench.usercode import attributes, is_of, is_shown, is_users_class

#: Of a logger; it also keeps a cache of levels, and the table of all loggers.
_OF_LOGGER = ("level", "parent", "propagate", "handlers", "disabled", "filters")
_OF_HANDLER = ("stream", "buffer", "queue", "target")  # where it leaves records


class Logger(AttributeNames):
    """Level and handlers of a logger; those below it go by its level."""

    def __init__(self, logger: Any) -> None:
        super().__init__(logger, _OF_LOGGER)

    def restore(self) -> None:
        """Put them back, and have loggers forget which levels they log."""
        super().restore()
        self._target.setLevel(self._target.level)


def handler_states(handler: Any) -> list[State] | None:
    """Return where one of Python's own leaves records, unless that is shown to the user."""
    if is_users_class(type(handler)):
        return None
    held = map(attributes(handler).get, _OF_HANDLER)
    return [Holder(handler, [each for each in held if not is_shown(each)])]


def loggers(_: Any) -> list[Any]:
    """Return all loggers that there are."""
    known = [logging.root, *logging.root.manager.loggerDict.values()]
    return [each for each in known if is_of(each, logging.Logger)]


def forget_loggers(_: Any, names: list[str]) -> None:
    """Have only those loggers that have these names."""
    held = logging.root.manager.loggerDict
    for name in held.keys() - names:
        del held[name]
