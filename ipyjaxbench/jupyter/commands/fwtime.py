"""What can be typed after `%fwtime`."""

from ipyjaxbench.jupyter.commands.command import NO_RESTORE, SHOWN, Command, Option
from ipyjaxbench.options import TimeOptions
from ipyjaxbench.validation import NEWEST_OR_FASTEST, digits, label, seconds, whole

TIME = Command(
    name="fwtime",
    options=TimeOptions,
    usage=("%fwtime [options] code", "%%fwtime [options] [set-up]   (above a cell)"),
    rows=(
        Option(
            ("-n", "--number"),
            "number",
            whole,
            "calls per sample; with -r exactly N times R calls are made",
        ),
        Option(("-r", "--repeat"), "repeat", whole, "number of samples (7 when only -n is given)"),
        Option(
            ("-b", "--budget"),
            "budget",
            seconds,
            "seconds to spend after the first call ({usual:g})",
        ),
        Option(("--quick",), "aim", "quick", "stop when known to 5 %, after 0.5 s at most"),
        Option(("--precise",), "aim", "precise", "stop when known to 0.5 %, after 10 s at most"),
        Option(
            ("-p", "--precision"), "precision", digits, "significant digits shown ({precision})"
        ),
        Option(
            ("--name",),
            "name",
            label,
            "keep the result under this name, for %fwcompare A B",
            sample="before",
            names="kept",
        ),
        Option(
            ("--against",),
            "against",
            str,
            "compare with a kept one: its name, last or best of this code",
            sample="last",
            choices=NEWEST_OR_FASTEST,
            names="kept",
        ),
        Option(("-t", "--calendar"), "clock", "calendar", "measure with time.time"),
        Option(
            ("-c", "--cpu"),
            "clock",
            "cpu",
            "measure CPU time of the process instead of elapsed time",
        ),
        Option(
            ("--fresh",),
            "fresh",
            True,
            "one more call, compiled anew; nothing in your caches is lost",
        ),
        Option(
            ("--device",), "device", True, "profile a few more calls: how long devices are busy"
        ),
        Option(("--ops",), "ops", True, "the same, and list the operations that take longest"),
        NO_RESTORE,
        *SHOWN,
    ),
    examples="""\
examples:
  %fwtime jnp.dot(x, x.T)               waited for, on every device that it uses
  %fwtime -b 5 y = step(params, batch)  five seconds; y is there afterwards
  r = %fwtime -n 100 -r 7 f(x)          exactly 700 calls; r.median in seconds
  %%fwtime x = make()                   set-up, untimed; the cell is timed

from Python:
  ipyjaxbench.measure(f, x)
  ipyjaxbench.measure_code("f(x)", globals())
""",
)
