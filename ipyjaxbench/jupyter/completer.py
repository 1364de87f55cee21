"""Completes options, their values and names; code is completed as everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import IPython

from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.purposes import PURPOSES

if TYPE_CHECKING:
    from ipyjaxbench.jupyter.completion import Completion

#: A magic, maybe with what its result is bound to, and all that follows.
_MAGIC = re.compile(r"(?:[^%]*=)?\s*(%%?)(\w+)([ \t].*)", re.DOTALL)
#: Names with dots between them, and nothing that would run code.
_DOTTED = re.compile(r"(?<![\w.)\]])[^\W\d]\w*(?:\.[^\W\d]\w*)*\.\w*$")
_HAS_CONTEXTS = IPython.version_info >= (8, 6)


class Completer:
    """Says what may stand at the cursor.

    Args:
        session: whose names are completed.

    Attributes:
        shells: the shell's own completer.
        registry: in which it looks for matchers.
        matcher: to be entered there.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.shells: Any = session.shell.Completer
        self.registry, self.matcher = _by_context(self) if _HAS_CONTEXTS else _by_line(self)

    def complete(self, before: str, cell: str) -> Completion | None:
        """Return what may stand at the cursor.

        Args:
            before: what stands before it in its line.
            cell: what stands below that line.
        """
        magic = _MAGIC.fullmatch(before)
        if magic is None or magic[2] not in PURPOSES:
            return None
        return self._complete_options(magic, cell) or self._complete_attributes(magic[3])

    def _complete_attributes(self, code: str) -> Completion | None:
        """Return attributes of a dotted name, which IPython looks up in its own magics alone."""
        from ipyjaxbench.jupyter.completion import Completion

        dotted = _DOTTED.search(code)
        if dotted is None or self.shells.use_jedi:
            return None
        attributes = tuple(self.shells.attr_matches(dotted[0]))
        return Completion(dotted[0], attributes) if attributes else None

    def _complete_options(self, magic: re.Match[str], cell: str) -> Completion | None:
        from dataclasses import replace

        from ipyjaxbench.comparison import cell as arms
        from ipyjaxbench.jupyter.commands import COMMANDS
        from ipyjaxbench.jupyter.completion import complete

        command, is_cell = COMMANDS[magic[2]], magic[1] == "%%"

        def names(sort: str) -> Sequence[str]:
            if sort == "bound":
                return [*self.shells.global_matches("")]
            is_arm = sort == "labels" and is_cell
            return arms.labels(cell) if is_arm else [*self._session.measurements]

        return complete(replace(command, names="") if is_cell else command, magic[3], names)


def _by_context(completer: Completer) -> tuple[list[Any], Callable[..., Any]]:
    """From IPython 8.6 on, a matcher gets the cell and can have its results alone."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier="ipyjaxbench")
    def options(context: Any) -> dict[str, Any]:
        below = context.full_text.split("\n")[context.cursor_line + 1 :]
        found = completer.complete(context.text_until_cursor, "\n".join(below))
        if found is None:
            return {"completions": []}
        return {
            "completions": [SimpleCompletion(each, type="magic") for each in found.candidates],
            "matched_fragment": found.fragment,
            "suppress": True,
        }

    return completer.shells.custom_matchers, options


def _by_line(completer: Completer) -> tuple[list[Any], Callable[..., Any]]:
    """Before that, matchers of a magic's arguments come first, and alone where they find any."""

    def options(_: str) -> list[str]:
        before: str = completer.shells.text_until_cursor
        found = completer.complete(before, "")
        if found is None:
            return []
        # What stands at the cursor, as this completer splits lines: less or more than a value.
        there = completer.shells.splitter.split_line(before)
        known = len(found.fragment) - len(there)
        above = there[: max(-known, 0)]
        return [above + each[max(known, 0) :] for each in found.candidates]

    return completer.shells.magic_arg_matchers, options
