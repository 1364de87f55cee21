"""What can be typed after `%fwhistory`."""

from ipyjaxbench.jupyter.commands.command import SHOWN, Command, Option
from ipyjaxbench.options import HistoryOptions
from ipyjaxbench.validation import age, newest

HISTORY = Command(
    name="fwhistory",
    options=HistoryOptions,
    usage=("%fwhistory [options] [text that the name or the code has]",),
    takes_code=False,
    rows=(
        Option(("--last",), "last", newest, "how many, the newest of them (20)", sample="50"),
        Option(("--since",), "since", age, "not older than: 30m, 12h, 7d, 4w or 1y", sample="7d"),
        Option(
            ("--framework",),
            "framework",
            str,
            "only where this one was in play",
            sample="jax",
            choices=("jax", "torch", "tensorflow", "numpy", "python"),
        ),
        Option(
            ("--here",),
            "here",
            True,
            "of this notebook; of this directory where its name is not known",
        ),
        Option(("--plot",), "plot", True, "draw the median over time"),
        Option(("--json",), "json", True, "show the record instead of the report"),
        Option(
            ("--prune",),
            "prune",
            age,
            "remove files with nothing younger in them, then show the rest",
            sample="30d",
        ),
        *SHOWN,
    ),
    examples="""\
examples:
  %fwhistory                            the last 20, of all notebooks
  %fwhistory softmax --since 7d         with softmax in name or code, this week
  %fwhistory --plot --here step         step in this notebook, over time
  h = %fwhistory -q --last 1000         h[0].median is the newest
  %fwtime --against best step(x)        hold a new one against the fastest

from Python:
  ipyjaxbench.history("softmax", since="7d")
""",
)
