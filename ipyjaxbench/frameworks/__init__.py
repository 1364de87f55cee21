"""What an array framework is to this package, and which ones the user has imported.

`Framework` is the contract of an adapter, `Capability` what it may offer beyond; `loaded` gives
the adapters in use, `find_arrays` and `find_reach` the arrays and functions inside of values.
Rooms above may use what is named here; nothing in here knows any framework by more than its name.
"""

from ipyjaxbench.frameworks.collectives import COLLECTIVES, Collectives
from ipyjaxbench.frameworks.compilation import (
    UNNAMED,
    Autotuned,
    ColdCall,
    Compilation,
    CompilationWatch,
    Program,
    Work,
    find_compiler,
)
from ipyjaxbench.frameworks.disk_cache.cache_use import LEAST_SECONDS, CacheUse
from ipyjaxbench.frameworks.disk_cache.compare_keys import DIGEST, PROGRAM, explain_miss
from ipyjaxbench.frameworks.disk_cache.entry_store import Entry, Parts, keep_entry, read_entries
from ipyjaxbench.frameworks.disk_cache.miss import DISK_MISS, DiskMiss
from ipyjaxbench.frameworks.framework import Capability, Framework, Wait
from ipyjaxbench.frameworks.job import Coordination, Job, explain_unusable_job, find_job
from ipyjaxbench.frameworks.job_options import JobOptions
from ipyjaxbench.frameworks.keras import (
    is_keras_built,
    is_keras_optimizer,
    keras_backend,
    keras_stateless_scope,
    refuse_keras_loop,
)
from ipyjaxbench.frameworks.placement import ArrayInfo, Placement
from ipyjaxbench.frameworks.private_work import is_private, private_work
from ipyjaxbench.frameworks.reachable_functions import Reach, find_eager_functions, find_reach
from ipyjaxbench.frameworks.registry import loaded
from ipyjaxbench.frameworks.replace import replace_attribute
from ipyjaxbench.frameworks.scope import Scope, find_placements
from ipyjaxbench.frameworks.state.checkpoint import Checkpoint
from ipyjaxbench.frameworks.state.containers import Entries, Items
from ipyjaxbench.frameworks.state.copies import Buffer, CopiedState
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.files import contents_of
from ipyjaxbench.frameworks.state.interpreter_settings import (
    read_environment,
    write_environment,
)
from ipyjaxbench.frameworks.state.module_use import globals_set_in
from ipyjaxbench.frameworks.state.names import (
    AttributeNames,
    CellName,
    ClassNames,
    DictNames,
    MemberNames,
    Names,
    added_states,
    attribute_states,
    slot_states,
)
from ipyjaxbench.frameworks.state.other_writers import OtherWriters
from ipyjaxbench.frameworks.state.positions import is_readable, is_unreadable, position_states
from ipyjaxbench.frameworks.state.protocol import MutableState, Restore, restore_together
from ipyjaxbench.frameworks.state.shared_bytes import is_shared_memory
from ipyjaxbench.frameworks.state.standard_objects import changes_by_itself
from ipyjaxbench.frameworks.state.streams import amounts, written
from ipyjaxbench.frameworks.state.undo import (
    DonatedArray,
    GeneratorState,
    GivenAway,
    Held,
    Holder,
    NamedSettings,
    Setting,
    State,
    TooLarge,
    Unseen,
    are_identical,
)
from ipyjaxbench.frameworks.synchronous import Synchronous
from ipyjaxbench.frameworks.waiters import (
    earlier_failures_apart,
    find_waiter,
    forget_failures,
    wait_at_end,
    wait_for_each,
    wait_for_results,
)
from ipyjaxbench.frameworks.walker import (
    Budget,
    find_arrays,
    iterate_arrays,
    iterate_named_arrays,
)
