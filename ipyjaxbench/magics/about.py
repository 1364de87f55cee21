"""``%ipyjaxbench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.magic import line_magic, magics_class

from ipyjaxbench.commands import ABOUT
from ipyjaxbench.errors import OptionError
from ipyjaxbench.magics._errors import one_line_errors
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.magics._verb import Verb, hand_over

if TYPE_CHECKING:
    from ipyjaxbench.overview import About


@magics_class
class Overview(Verb):
    """Lists the magics, and what a report of a bug needs."""

    commands = (ABOUT,)

    @line_magic
    def ipyjaxbench(self, line: str) -> About | None:
        __tracebackhide__ = True
        typed = Typed.of(self.shell, line, None, None)
        with one_line_errors():
            chosen, rest = self.split(ABOUT, line)
            if rest:
                raise OptionError(f"{rest!r}: %ipyjaxbench takes nothing but options")
        from ipyjaxbench.overview import about

        result = about()
        return hand_over(typed, chosen, result, self.screen(typed, chosen))  # type: ignore[no-any-return]
