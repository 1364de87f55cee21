"""Devices and what lies on them: where arrays are, what is copied, and how fast a device can be.

`locate` says where values live, `watch_transfers` runs code and says what it copied,
`measure_ceilings` measures what a device can do, `set_memory` sets what frameworks may take of it,
and `about` says what a report of a bug needs. `protocol` is what an adapter offers for that. The
timer asks for ceilings; else the magics and the Python API call this room.
"""

from ipyjaxbench.device import measure_ceilings, microbenchmarks
from ipyjaxbench.device.about import About, about
from ipyjaxbench.device.ceilings import BUSY, Ceiling, Ceilings
from ipyjaxbench.device.ceilings_store import any_of
from ipyjaxbench.device.inventory import Device, FrameworkDevices
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.measure_ceilings import ceilings
from ipyjaxbench.device.memory import MEMORY_VARIABLES, MemorySetting, MemorySettings, too_late
from ipyjaxbench.device.microbenchmarks import Probe, Run
from ipyjaxbench.device.options import DeviceOptions
from ipyjaxbench.device.placement import ArrayPlacement, Placements, Weight
from ipyjaxbench.device.protocol import (
    HOST,
    KEPT,
    SHARES,
    ArrayInspector,
    Crossing,
    CrossingWatch,
    DeviceInventory,
    Tell,
    TransferWatch,
    is_of_numpy,
    is_operator,
    module_of,
    name_of,
    receiver,
)
from ipyjaxbench.device.set_memory import set_memory
from ipyjaxbench.device.sharding import Region, Shard, Sharding, short
from ipyjaxbench.device.transfers import Transfers
from ipyjaxbench.device.watch_transfers import transfer_code
