"""Many processes at once: ranks that measure in step, and what the slowest costs the others.

In one of many processes, `join` finds the measurement in which all of them take part,
`measure_rank` times code there in step, `measure_network` the collectives alone; `rendezvous` is
where ranks meet, on the host, with a time-out. From a client, `find_engines` reads whom the user
means, `find_members` asks them what they are to each other, `time_on_engines` times code on all,
`merge_whereabouts` makes one tree of what `locate_here` says in each, and `merge_traces` one report
of what `trace_here` says.
"""

from ipyjaxbench.cluster.engines import Engines
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.find_engines import engines_of, find_engines, has_client, is_client
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.job_peaks import JobPeaks
from ipyjaxbench.cluster.job_traces import JobTraces, RankTraces
from ipyjaxbench.cluster.job_whereabouts import JobWhereabouts
from ipyjaxbench.cluster.join import join
from ipyjaxbench.cluster.look_here import locate_here
from ipyjaxbench.cluster.look_on_engines import locate_on_engines, measure_peaks_on_engines
from ipyjaxbench.cluster.measure import measure_rank
from ipyjaxbench.cluster.measure_network import measure_network
from ipyjaxbench.cluster.members import Members, find_members
from ipyjaxbench.cluster.merge_whereabouts import merge_whereabouts
from ipyjaxbench.cluster.network_peaks import CollectiveTime, NetworkPeaks
from ipyjaxbench.cluster.sweep_engines import EngineArm, sweep_engines
from ipyjaxbench.cluster.time_in_job import time_call_in_job
from ipyjaxbench.cluster.time_on_engines import (
    refuse_options,
    time_call_on_engines,
    time_on_engines,
)
from ipyjaxbench.cluster.trace_here import trace_here
from ipyjaxbench.cluster.trace_on_engines import merge_traces, trace_on_engines
