"""What can be typed after `%trace_cached`."""

from ipyjaxbench.jupyter.commands.command import SHOWN, Command, Option
from ipyjaxbench.options import TraceOptions
from ipyjaxbench.validation import count

TRACE = Command(
    name="trace_cached",
    options=TraceOptions,
    usage=("%trace_cached [options] code", "%%trace_cached [options]   (above a cell)"),
    rows=(
        Option(
            ("--predict",), "predict", True, "say whether the call would be traced; nothing is run"
        ),
        Option(("--max-traces",), "most", count, "fail when more is traced than this"),
        Option(
            ("--history",), "history", True, "list the signatures that functions were traced with"
        ),
        Option(
            ("--watch",),
            "watch",
            str,
            "on or off: a line below each later cell that traces something",
            sample="on",
            choices=("on", "off"),
        ),
        Option(
            ("--internal",), "internal", True, "name all that was compiled outside of the calls"
        ),
        Option(("--json",), "json", True, "show the record instead of the report"),
        *SHOWN,
    ),
    examples="""\
examples:
  %trace_cached f(x)              calls it twice: once traced, then cached
  %%trace_cached                  a line for each call of a compiled function
  %%trace_cached --max-traces 1   fails with the reason when more is traced
  %trace_cached --predict f(y)    would it be traced? nothing is run
  %trace_cached --history step    the signatures that step was traced with
  %trace_cached --watch on        a line below each later cell that traces

from Python:
  with ipyjaxbench.trace_cached() as t: ...
  ipyjaxbench.assert_max_traces(f, 1)
""",
)
