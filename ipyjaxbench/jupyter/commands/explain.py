"""What can be typed after `%explain`."""

from ipyjaxbench.jupyter.commands.command import SHOWN, Command
from ipyjaxbench.options import ShownOptions

EXPLAIN = Command(
    name="explain",
    options=ShownOptions,
    usage=("%explain [options]",),
    rows=SHOWN,
    takes_code=False,
    examples="""\
examples:
  %explain                              after a cell that failed
  why = %explain                        why.fixes
  %explain -q -v why                    the same, and nothing is shown

from Python:
  ipyjaxbench.explain(error)
""",
)
