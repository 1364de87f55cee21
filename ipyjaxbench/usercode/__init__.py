"""The user's code: read, run, instrumented, and told apart from everybody else's.

`Snippet` is code compiled once into a loop, `Call` one call with its arguments, `run` awaits where
code awaits. `instrument` has calls in some code go through a hook, `objects` reads any object
without running code of its class, `origin` says whose file a line is in. All rooms above use this
one; it knows the host and no framework.
"""

from ipyjaxbench.usercode.awaiting import loop_runs, run, run_in_loop, run_in_new_loop
from ipyjaxbench.usercode.blocked import give_up_blocked, may_block
from ipyjaxbench.usercode.call import (
    Call,
    Shape,
    called_name,
    explain_uncalled,
    is_shape,
    label_arguments,
    read_call,
    read_call_of_shapes,
    refuse_uncallable,
)
from ipyjaxbench.usercode.call_frames import CallFrames
from ipyjaxbench.usercode.callables import callables_in
from ipyjaxbench.usercode.cells import (
    CELLS,
    assignment_of,
    cell_of,
    how_to_define,
    is_of_module,
    reads_itself,
)
from ipyjaxbench.usercode.classes import (
    PerClass,
    class_dict,
    is_made,
    module_of,
    mro_of,
    slots_of,
    solid_base,
)
from ipyjaxbench.usercode.code_objects import (
    captured_values,
    catches_errors,
    closure_values,
    fingerprint,
    globals_in,
    named_below,
    named_values,
    names_in,
    names_read_and_bound,
    parts_of_callable,
    texts_in,
)
from ipyjaxbench.usercode.deadline import OutOfTimeError, time_limit
from ipyjaxbench.usercode.error_messages import describe_error, message_of, shorten_message
from ipyjaxbench.usercode.expressions import evaluate_expressions, is_display, split_expressions
from ipyjaxbench.usercode.frames import (
    called_name_in,
    clear_our_frames,
    current_frames,
    errors_behind,
    expression_at,
    expression_of_instruction,
    frames_behind,
    strip_hook_frames,
    strip_our_frames,
)
from ipyjaxbench.usercode.framework_data import AnyData
from ipyjaxbench.usercode.holders import path_to, users_names
from ipyjaxbench.usercode.imprints import MOST_READ, WITHIN, Imprint
from ipyjaxbench.usercode.inline_values import read_inline_values
from ipyjaxbench.usercode.instrument import (
    compile_changed,
    instrument_cell,
    instrument_functions,
)
from ipyjaxbench.usercode.instrument_copies import CopyingHook
from ipyjaxbench.usercode.instrumented_tree import FUNCTION_NODES, Site
from ipyjaxbench.usercode.line_trace import CodeLine, LineTrace, innermost_line
from ipyjaxbench.usercode.loaded_names import LoadedNames
from ipyjaxbench.usercode.made_functions import remove_hooks
from ipyjaxbench.usercode.members import (
    call_of,
    is_plain_function,
    look_up_called,
    wrappers_in,
)
from ipyjaxbench.usercode.name_chains import assigned_names, chains
from ipyjaxbench.usercode.objects import (
    ask,
    attribute,
    attributes,
    dictionary_of,
    extends,
    filled_slots,
    has_attributes,
    is_a,
    is_exactly,
    is_of,
    is_opaque,
    items_of,
    living_token,
    look_up,
    name_of,
    package_of,
    slots,
    text_of,
    token,
    unwrap,
)
from ipyjaxbench.usercode.origin import (
    GENERATED,
    PACKAGE,
    is_file_of,
    is_of_library,
    is_users_class,
    is_users_file,
    is_users_function,
    is_users_module,
    names_of_module,
)
from ipyjaxbench.usercode.other_threads import (
    OtherCode,
    find_other_code,
    find_threads,
    values_in,
)
from ipyjaxbench.usercode.output import (
    Muted,
    OutputRecorder,
    StandIn,
    Written,
    is_shown,
)
from ipyjaxbench.usercode.patience import StuckError
from ipyjaxbench.usercode.places import Place, all_stand
from ipyjaxbench.usercode.reads import Reads, find_reads
from ipyjaxbench.usercode.scopes import named_around
from ipyjaxbench.usercode.side_effects import (
    ARRAY_FUNCTION_NAMES,
    SIDE_EFFECT_NAMES,
    has_side_effects,
)
from ipyjaxbench.usercode.snippet import OUR_LINES, Loop, Namespace, Snippet, Source
from ipyjaxbench.usercode.syntax import (
    arguments,
    awaits,
    copy_tree,
    first_line,
    imports_more,
    is_plain,
    nodes_in_scope,
    nodes_of,
    only_value,
    root_name,
)
from ipyjaxbench.usercode.unlogged import unlogged
