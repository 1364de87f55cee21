"""Devices and what lies on them: where arrays are, what is copied, and how fast a device can be.

`locate` says where values live, `watch_transfers` runs code and says what it copied,
`collect_peaks` measures what a device can do, `set_memory` sets what frameworks may take of it,
and `about` says what a report of a bug needs. `protocol` is what an adapter offers for that. The
timer asks for peaks; else the magics and the Python API call this room.
"""

from ipyjaxbench.device.about import About, about
from ipyjaxbench.device.array_lines import array_traits, describe_array, fold_arrays
from ipyjaxbench.device.copy_watch import (
    HOST,
    KEPT,
    SHARES,
    CopyWatch,
    defining_package,
    is_of_numpy,
    is_operator,
    receiver,
)
from ipyjaxbench.device.datasheets import Datasheet, find_datasheet
from ipyjaxbench.device.device_names import name_holders, shorten_devices, shorten_numbers
from ipyjaxbench.device.devices import Device, FrameworkDevices, gpu_kind
from ipyjaxbench.device.find_held import HeldMemory, Root
from ipyjaxbench.device.held import Held, Holder, Kind
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.measure_peaks import collect_peaks, find_peaks
from ipyjaxbench.device.memory_peak import MemoryPeak
from ipyjaxbench.device.memory_settings import (
    MEMORY_VARIABLES,
    MemoryRequest,
    MemorySetting,
    MemorySettings,
    how_to_allocate_on_demand,
    too_late,
)
from ipyjaxbench.device.microbenchmarks import Probe, Run, fastest_product
from ipyjaxbench.device.options import DeviceOptions
from ipyjaxbench.device.peaks import BUSY, DevicePeaks, Peaks, peak_row
from ipyjaxbench.device.peaks_store import has_peaks, stored_peaks
from ipyjaxbench.device.protocol import (
    ArrayInspector,
    DeviceInventory,
    MemoryMeter,
    TransferWatch,
    name_of_chip,
)
from ipyjaxbench.device.resident_curve import ResidentCurve
from ipyjaxbench.device.set_memory import set_memory
from ipyjaxbench.device.sharding import Region, Shard, Sharding
from ipyjaxbench.device.sharding_pictures import draw_shardings
from ipyjaxbench.device.transfers import Transfers
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.device.whereabouts import (
    ArrayMemory,
    ArrayPlacement,
    Process,
    Weight,
    Whereabouts,
)
