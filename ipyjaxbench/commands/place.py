"""What can be typed after `%fwdevices`."""

from ipyjaxbench.commands._command import SHOWN, Command, Option
from ipyjaxbench.options import PlaceOptions

PLACE = Command(
    name="fwdevices",
    purpose="Show where arrays live, what devices there are, and above a cell what it copies.",
    options=PlaceOptions,
    usage=("%fwdevices [options] [value value ...]", "%%fwdevices [options]   (above a cell)"),
    rows=(
        Option(
            ("--start",), "start", True, "let frameworks that were imported look for devices now"
        ),
        *SHOWN,
    ),
    examples="""\
examples:
  %fwdevices                       devices of frameworks in use; arrays by name
  %fwdevices x params["w"] model   where these live, leaf by leaf, how cut
  %%fwdevices                      what a cell copies between host and devices

from Python:
  ipyjaxbench.devices()
  ipyjaxbench.placement(x, params)
  with ipyjaxbench.transfers() as t: ...
""",
)
