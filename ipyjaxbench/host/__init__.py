"""The machine below: time, CPUs, GPUs, Git, and the directory for data of this package.

`clock` is the one place where time is read, `conditions` says what the machine did while something
was measured, and `causes` puts that into words. `procfs` and `nvml` read what Linux and NVIDIA's
driver tell, `git` the revision of the code. Looking changes nothing and imports nothing heavy. All
rooms may import from here but `reports`; this room knows none of them.
"""

from ipyjaxbench.host import conditions, data_dir, nvml, procfs
from ipyjaxbench.host.causes import causes
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.conditions import Conditions, Meter, environment
from ipyjaxbench.host.git import revision
from ipyjaxbench.host.system import TAKEN, host_memory, in_words, of_kind, usable_cpus
