"""``%fwdevices``."""

from typing import Any

from IPython.core.magic import (
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from ipyjaxbench.commands import PLACE
from ipyjaxbench.located import Whereabouts
from ipyjaxbench.locating import evaluated, locate, survey
from ipyjaxbench.magics._errors import one_line_errors
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.magics._verb import Verb, hand_over
from ipyjaxbench.snippet import Namespace
from ipyjaxbench.transferred import Transfers
from ipyjaxbench.transferring import transfer_code


@magics_class
class FwDevices(Verb):
    """Says where everything lives, and what a cell copies."""

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def fwdevices(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Any:
        __tracebackhide__ = True
        return Typed.of(self.shell, line, cell, local_ns).done(PLACE, self._place)

    fwdevices.__doc__ = PLACE.help()

    def _place(self, typed: Typed) -> Whereabouts | Transfers | None:
        __tracebackhide__ = True
        raised: BaseException | None = None
        result: Whereabouts | Transfers
        with one_line_errors():
            chosen, rest = PLACE.split(typed.line)
            if typed.cell is not None:
                result, raised = transfer_code(typed.source(typed.body(rest)), typed.names)
            elif rest:
                result = locate(evaluated(typed.names, rest), start=chosen.start)
            else:
                hidden = self.shell.user_ns_hidden
                mine = {name: value for name, value in typed.names.items() if name not in hidden}
                result = survey(mine, start=chosen.start)
            returned = hand_over(typed, chosen, result, result)
            if raised is not None:
                raise raised
        return returned  # type: ignore[no-any-return]
