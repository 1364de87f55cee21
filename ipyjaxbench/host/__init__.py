"""The machine below: time, CPUs, GPUs, Git, and the directory for data of this package.

`clock` is the one place where time is read, `conditions` says what the machine did while something
was measured, and `causes` puts that into words. `procfs` and `nvml` read what Linux and NVIDIA's
driver know, `processes` whether a process still runs, `git` the revision of the code, `git_log`
the order of commits. Looking changes nothing and imports nothing heavy. All rooms may import from
here but `reports`; this room knows none of them.
"""

from ipyjaxbench.host.clock import CLOCKS, Clock
from ipyjaxbench.host.conditions import Conditions, Meter, describe_machine
from ipyjaxbench.host.data_dir import data_folder, make_data_folder, open_private, replace_file
from ipyjaxbench.host.git import revision
from ipyjaxbench.host.git_log import order_commits
from ipyjaxbench.host.noise_causes import causes
from ipyjaxbench.host.nvml import (
    IDLE,
    EnergyCounter,
    Gpu,
    find_energy_counter,
    query_gpu_driver,
    query_gpus,
)
from ipyjaxbench.host.processes import process_space, process_start
from ipyjaxbench.host.procfs import (
    child_processes,
    core_cache,
    highest_resident_memory,
    largest_cache,
    resident_memory,
)
from ipyjaxbench.host.system import (
    GPU_NOT_PROFILED,
    PROFILER_IN_USE,
    filter_by_type,
    host_memory,
    plain_message,
    summarize_error,
    usable_cpus,
    wrapped_error,
)
