"""The user's code: read, run, instrumented, and told apart from everybody else's.

`Snippet` is code compiled once into a loop, `Call` one call with its arguments, `run` awaits where
code awaits. `instrument` has calls in some code go through a hook, `objects` reads any object
without running code of its class, `origin` says whose file a line is in. All rooms above use this
one; it knows the host and no framework.
"""

from ipyjaxbench.usercode import (
    call,
    classes,
    code_objects,
    deadline,
    exceptions,
    inline_values,
    instrument,
    objects,
)
from ipyjaxbench.usercode.awaiting import loop_runs, run, run_in_loop, run_in_new_loop
from ipyjaxbench.usercode.call import Call, Shape, called, labels, uncalled
from ipyjaxbench.usercode.classes import defined
from ipyjaxbench.usercode.code_objects import fingerprint
from ipyjaxbench.usercode.deadline import OutOfTimeError, within
from ipyjaxbench.usercode.error_words import said, text_of
from ipyjaxbench.usercode.exceptions import one_line
from ipyjaxbench.usercode.expressions import evaluate
from ipyjaxbench.usercode.frames import called_in, evaluated_at, without_hook
from ipyjaxbench.usercode.instrument import Site
from ipyjaxbench.usercode.instrument_copies import Copies
from ipyjaxbench.usercode.introspection import named, names_in, parts_of_callable
from ipyjaxbench.usercode.objects import (
    asked,
    attribute,
    attributes,
    is_exactly,
    is_of,
    is_opaque,
    items_of,
    line_of,
    looked_up,
    module_of,
    name_of,
    package_of,
    slots,
    unwrapped,
)
from ipyjaxbench.usercode.origin import (
    GENERATED,
    PACKAGE,
    is_users_class,
    is_users_file,
    is_users_function,
    is_users_module,
    names_of_module,
)
from ipyjaxbench.usercode.output import Muted, OutputRecorder, StandIn, Written
from ipyjaxbench.usercode.side_effects import ACTS, OF_ARRAYS, acts
from ipyjaxbench.usercode.snippet import Loop, Namespace, Snippet, Source, awaits, first_line, own
from ipyjaxbench.usercode.syntax import arguments, is_plain, nodes_of, only_value, root_name
