"""The closed list of Notes: each is one thing to know before believing a number.

A Note says what was seen, how large its effect is, and what to write instead.
"""

from ipyjaxbench.notes._note import CHANGES_MEANING as CHANGES_MEANING
from ipyjaxbench.notes._note import GOOD_TO_KNOW as GOOD_TO_KNOW
from ipyjaxbench.notes._note import Note as Note
from ipyjaxbench.notes.arms import arm_failed as arm_failed
from ipyjaxbench.notes.arms import copies_alone as copies_alone
from ipyjaxbench.notes.arms import eager_beside_compiled as eager_beside_compiled
from ipyjaxbench.notes.arms import half_alone as half_alone
from ipyjaxbench.notes.arms import not_compared as not_compared
from ipyjaxbench.notes.arms import other_data as other_data
from ipyjaxbench.notes.arms import other_device as other_device
from ipyjaxbench.notes.arms import other_dtype as other_dtype
from ipyjaxbench.notes.arms import other_result as other_result
from ipyjaxbench.notes.arms import other_threads as other_threads
from ipyjaxbench.notes.arms import slowed_by_others as slowed_by_others
from ipyjaxbench.notes.chips import half_chips as half_chips
from ipyjaxbench.notes.chips import loops_once as loops_once
from ipyjaxbench.notes.chips import no_estimate as no_estimate
from ipyjaxbench.notes.chips import nothing_cut as nothing_cut
from ipyjaxbench.notes.chips import padded as padded
from ipyjaxbench.notes.chips import stays_whole as stays_whole
from ipyjaxbench.notes.programs import baked_in as baked_in
from ipyjaxbench.notes.programs import call_made as call_made
from ipyjaxbench.notes.programs import called_back as called_back
from ipyjaxbench.notes.programs import changed_while_traced as changed_while_traced
from ipyjaxbench.notes.programs import copy_built as copy_built
from ipyjaxbench.notes.programs import donated_unused as donated_unused
from ipyjaxbench.notes.programs import drawn_once as drawn_once
from ipyjaxbench.notes.programs import key_reused as key_reused
from ipyjaxbench.notes.programs import low_precision as low_precision
from ipyjaxbench.notes.programs import mixed_tree as mixed_tree
from ipyjaxbench.notes.programs import promoted as promoted
from ipyjaxbench.notes.programs import recomputed as recomputed
from ipyjaxbench.notes.programs import resharded as resharded
from ipyjaxbench.notes.programs import static_nan as static_nan
from ipyjaxbench.notes.programs import tracer_kept as tracer_kept
from ipyjaxbench.notes.programs import unrolled as unrolled
from ipyjaxbench.notes.programs import weak_output as weak_output
from ipyjaxbench.notes.run import below_clock as below_clock
from ipyjaxbench.notes.run import calls_differ as calls_differ
from ipyjaxbench.notes.run import compiled_late as compiled_late
from ipyjaxbench.notes.run import earlier_work as earlier_work
from ipyjaxbench.notes.run import elsewhere as elsewhere
from ipyjaxbench.notes.run import fresh_copies as fresh_copies
from ipyjaxbench.notes.run import grows as grows
from ipyjaxbench.notes.run import interrupted as interrupted
from ipyjaxbench.notes.run import looked_at as looked_at
from ipyjaxbench.notes.run import names_stay_inside as names_stay_inside
from ipyjaxbench.notes.run import needs_longer as needs_longer
from ipyjaxbench.notes.run import not_all_kept as not_all_kept
from ipyjaxbench.notes.run import output_hidden as output_hidden
from ipyjaxbench.notes.run import over_budget as over_budget
from ipyjaxbench.notes.run import over_memory as over_memory
from ipyjaxbench.notes.run import put_back as put_back
from ipyjaxbench.notes.run import runs_once as runs_once
from ipyjaxbench.notes.run import slows_down as slows_down
from ipyjaxbench.notes.run import started_anew as started_anew
from ipyjaxbench.notes.run import started_elsewhere as started_elsewhere
from ipyjaxbench.notes.run import state_advanced as state_advanced
from ipyjaxbench.notes.run import stopped_by_error as stopped_by_error
from ipyjaxbench.notes.run import unsynchronised as unsynchronised
from ipyjaxbench.notes.settings import narrowed as narrowed
from ipyjaxbench.notes.settings import not_usable as not_usable
from ipyjaxbench.notes.settings import processes as processes
from ipyjaxbench.notes.settings import recorded as recorded
from ipyjaxbench.notes.settings import reduced_precision as reduced_precision
from ipyjaxbench.notes.settings import setting_on as setting_on
from ipyjaxbench.notes.settings import unknown_part as unknown_part
from ipyjaxbench.notes.settings import watched as watched
from ipyjaxbench.notes.work import built_each_call as built_each_call
from ipyjaxbench.notes.work import compiles_too as compiles_too
from ipyjaxbench.notes.work import constant_folded as constant_folded
from ipyjaxbench.notes.work import copies as copies
from ipyjaxbench.notes.work import copy_kept as copy_kept
from ipyjaxbench.notes.work import half_product as half_product
from ipyjaxbench.notes.work import impossible_speed as impossible_speed
from ipyjaxbench.notes.work import lazy as lazy
from ipyjaxbench.notes.work import left_running as left_running
from ipyjaxbench.notes.work import no_work as no_work
from ipyjaxbench.notes.work import not_called as not_called
from ipyjaxbench.notes.work import recompiles as recompiles
from ipyjaxbench.notes.work import used_up as used_up
from ipyjaxbench.notes.work import value_cached as value_cached
from ipyjaxbench.notes.work import work_removed as work_removed

CODES = (
    "earlier-work",
    "unsynchronised",
    "elsewhere",
    "calls-differ",
    "looked-at",
    "state-advanced",
    "put-back",
    "not-all-kept",
    "started-anew",
    "started-elsewhere",
    "fresh-copies",
    "runs-once",
    "stopped-by-error",
    "interrupted",
    "over-budget",
    "over-memory",
    "needs-longer",
    "recompiles",
    "compiled-late",
    "not-called",
    "output-hidden",
    "not-usable",
    "unknown-part",
    "copies",
    "names-stay-inside",
    "narrowed",
    "reduced-precision",
    "setting-on",
    "watched",
    "processes",
    "recorded",
    "compiles-too",
    "half-product",
    "lazy",
    "left-running",
    "built-each-call",
    "constant-folded",
    "work-removed",
    "impossible-speed",
    "value-cached",
    "copy-kept",
    "used-up",
    "grows",
    "slows-down",
    "below-clock",
    "no-work",
    "arm-failed",
    "not-compared",
    "other-result",
    "other-data",
    "other-dtype",
    "other-device",
    "other-threads",
    "eager-beside-compiled",
    "copies-alone",
    "half-alone",
    "slowed-by-others",
    "baked-in",
    "call-made",
    "called-back",
    "donated-unused",
    "copy-built",
    "key-reused",
    "low-precision",
    "promoted",
    "recomputed",
    "resharded",
    "tracer-kept",
    "unrolled",
    "weak-output",
    "changed-while-traced",
    "mixed-tree",
    "static-nan",
    "drawn-once",
    "half-chips",
    "loops-once",
    "no-estimate",
    "nothing-cut",
    "padded",
    "stays-whole",
)
