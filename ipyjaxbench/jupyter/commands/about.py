"""What can be typed after `%ipyjaxbench`."""

from ipyjaxbench.jupyter.commands.command import SHOWN, Command
from ipyjaxbench.options import ShownOptions

ABOUT = Command(
    name="ipyjaxbench",
    options=ShownOptions,
    usage=("%ipyjaxbench [options]",),
    rows=SHOWN,
    takes_code=False,
    examples="""\
examples:
  %ipyjaxbench              nothing is imported, and no device is started
  me = %ipyjaxbench -q      print(me.text), to be pasted into a report
  %config IpyJaxBench       what can be configured, with its values of now

from Python:
  ipyjaxbench.about()
""",
)
