"""Times one piece of code: first call, steady state, and what may mislead about the figure.

`measure.measure_snippet` is the whole flow. `session` makes the first call and plans the others;
`steady_state` warms up and takes samples with the calls that `runner` makes; `restoration` puts
back what they changed; `validity` holds what may mislead. The comparison calls the same functions.
`protocol` is what an adapter offers beyond waiting. The magics, the Python API and the comparison
call this room.
"""

from ipyjaxbench.timing.compile_cost import spell_phases, split_phases
from ipyjaxbench.timing.compile_passes import CompilePasses, sum_passes
from ipyjaxbench.timing.device_time import (
    DeviceTime,
    Exchanged,
    Interval,
    Profile,
    SourceLine,
    union,
)
from ipyjaxbench.timing.estimate import MEDIAN_AND_RERUN, Estimate, low_end, name_column
from ipyjaxbench.timing.figure_change import Against, Change, Figure
from ipyjaxbench.timing.functions import (
    PreparedCall,
    call_code,
    measure_call,
    refuse_misplaced,
    split_options,
)
from ipyjaxbench.timing.isolation import Donated, Snapshot, all_alive, find_rebound_names
from ipyjaxbench.timing.measure import (
    ignore_progress,
    make_steady,
    measure_snippet,
    review,
    summarize,
)
from ipyjaxbench.timing.measurement import Measurement, summarize as summarize_samples
from ipyjaxbench.timing.notes import (
    compiled_late as note_compiled_late,
    interrupted as note_interrupted,
    names_stay_inside as note_names_stay_inside,
)
from ipyjaxbench.timing.options import AIMS, FwtimeOptions, TimeOptions
from ipyjaxbench.timing.perfetto.recording import start_recording
from ipyjaxbench.timing.program_texts import find_program_texts
from ipyjaxbench.timing.protocol import Caveats, Profiler
from ipyjaxbench.timing.restoration import measured_again, put_back
from ipyjaxbench.timing.rewind import Rewind
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.session import (
    LaterCalls,
    Session,
    make_first_call,
    open_session,
    plan_calls,
)
from ipyjaxbench.timing.steady_state import OnProgress, Steady, gc_paused
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from ipyjaxbench.timing.validity.compiled_work import find_builder
from ipyjaxbench.timing.validity.container_growth import ContainerGrowth
from ipyjaxbench.timing.validity.notes import half_product as note_half_product
from ipyjaxbench.timing.validity.product_format import product_format
from ipyjaxbench.timing.validity.setting_notes import (
    default_precision as note_default_precision,
    narrowed as note_narrowed,
    processes as note_processes,
    recorded as note_recorded,
    reduced_precision as note_reduced_precision,
    setting_on as note_setting_on,
    shapes_only as note_shapes_only,
    stale_program as note_stale_program,
    watched as note_watched,
)
from ipyjaxbench.timing.verdict import NO_FIGURE, VERDICT_MEANINGS
