"""What can be typed after `%fwcompare`."""

from ipyjaxbench.jupyter.commands.command import NO_RESTORE, SHOWN, Command, Option
from ipyjaxbench.options import CompareOptions
from ipyjaxbench.validation import digits, seconds, swept

COMPARE = Command(
    name="fwcompare",
    options=CompareOptions,
    usage=("%%fwcompare [options]   (above a cell)", "%fwcompare [options] name name"),
    takes_code=False,
    names="kept",
    rows=(
        Option(
            ("--baseline",),
            "baseline",
            str,
            "label of the arm to compare with (the first)",
            sample="numpy",
            names="labels",
        ),
        Option(
            ("--sweep",),
            "sweep",
            swept,
            "compare at each of these values: n=100,300 or n=2**6..2**12",
            sample="n=100,300",
            several=True,
        ),
        Option(
            ("-b", "--budget"),
            "budget",
            seconds,
            "seconds to spend after the first calls ({usual:g} an arm)",
        ),
        Option(
            ("--keep-going",),
            "keep_going",
            True,
            "where an arm fails, go on to the next cell all the same",
        ),
        Option(("--align",), "align", True, "all CPUs and full matrix precision for all arms"),
        Option(
            ("-p", "--precision"), "precision", digits, "significant digits shown ({precision})"
        ),
        NO_RESTORE,
        *SHOWN,
    ),
    examples="""\
a cell:
  x = np.random.rand(n, n)              above the arms: runs once
  numpy: np.dot(x, x)                   an arm
  several lines:                        another one
      y = np.dot(x, x)
      y.sum()
  setup numpy: x = np.random.rand(n, n) runs before each sample of that arm

examples:
  %%fwcompare --baseline numpy
  %%fwcompare --sweep n=100,300,1000    the arms at each value of n
  %%fwcompare --sweep n=2**6..2**12     64, 128, 256, ... 4096
  %fwcompare before after               results that %fwtime kept by name

from Python:
  ipyjaxbench.compare({"eager": f, "jitted": jax.jit(f)}, x)
""",
)
