"""Where the time of a training loop goes: data, host, device, and what is left.

`time_loop.time_loop` is the whole flow: `find_loop` chooses a loop of the cell, `insert_marks` puts
marks between its statements, `marks` collects moments while the cell runs once, and `step_times`
makes seconds of them. `protocol` is what an adapter says of where its framework waits. The magic
``%%fwtime --loop`` calls this room.
"""

from ipyjaxbench.steps.bottleneck import VERDICT_MEANINGS as BOUND_MEANINGS
from ipyjaxbench.steps.loop_times import LoopTimes
from ipyjaxbench.steps.protocol import DeviceWaits, WaitPoint
from ipyjaxbench.steps.step_parts import LineTime, StepTime
from ipyjaxbench.steps.time_loop import time_loop
