"""What can be typed after `%fwdevices`."""

from ipyjaxbench.jupyter.commands.command import SHOWN, Command, Option
from ipyjaxbench.options import PlaceOptions
from ipyjaxbench.validation import share

PLACE = Command(
    name="fwdevices",
    options=PlaceOptions,
    several=True,
    usage=("%fwdevices [options] [value value ...]", "%%fwdevices [options]   (above a cell)"),
    rows=(
        Option(
            ("--start",), "start", True, "let frameworks that were imported look for devices now"
        ),
        Option(
            ("--peak",),
            "peak",
            True,
            "say what devices can do at most; it is measured once, and kept for this machine",
        ),
        Option(("--fresh",), "fresh", True, "with --peak: measure it anew"),
        Option(("--no-prealloc",), "prealloc", False, "have memory of GPUs taken as it is needed"),
        Option(
            ("--mem-fraction",),
            "fraction",
            share,
            "share of each GPU's memory that a framework may take",
            sample="0.5",
        ),
        *SHOWN,
    ),
    examples="""\
examples:
  %fwdevices                       devices of frameworks in use; arrays by name
  %fwdevices x params["w"] model   where these live, leaf by leaf, how cut
  %fwdevices --peak                products, memory and copies at their fastest
  %fwdevices --no-prealloc         before the first use: memory as it is needed
  %%fwdevices                      what a cell copies between host and devices

from Python:
  ipyjaxbench.devices()
  ipyjaxbench.ceilings()
  ipyjaxbench.placement(x, params)
  with ipyjaxbench.transfers() as t: ...
""",
)
