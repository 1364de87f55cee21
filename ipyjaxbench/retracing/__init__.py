"""Traced or cached: what became of each call of a compiled function, and why.

`observe_code` runs code and looks at its calls, `predict_code` says what a call would be without
making it, and `trace_cached` and `assert_max_traces` do so in programs and tests. `cache_key` says
what a call is to its framework, `key_changes` in what two differ, `trace_log` keeps what was traced
in this process, and `protocol` is what an adapter offers for that. The magics and the Python API
call this room.
"""

from ipyjaxbench.retracing.cache_key import (
    PROPERTIES,
    CacheMiss,
    Change,
    Leaf,
    Property,
    Signature,
    describe_changes,
)
from ipyjaxbench.retracing.causes import is_same_trace
from ipyjaxbench.retracing.kept_programs import Args, Invocation, KeptPrograms, Kwargs
from ipyjaxbench.retracing.key_changes import changes
from ipyjaxbench.retracing.max_traces import trace_cached
from ipyjaxbench.retracing.observe import keep_learning, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.protocol import (
    CachedCall,
    CallCompiler,
    CallWatch,
    Evidence,
    KeptBody,
    OnHit,
    Outcome,
    Retracing,
)
from ipyjaxbench.retracing.read_changes import PartChange, ReadChange
from ipyjaxbench.retracing.reasons import group_reasons
from ipyjaxbench.retracing.signatures import Signatures
from ipyjaxbench.retracing.stale import find_stale, stale_in_all, stale_parts
from ipyjaxbench.retracing.stale_names import find_stale_functions
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.retracing.traces import COMPILED, COSTLY, TRACED, TracedCall, Traces, number_calls
from ipyjaxbench.retracing.unseen_traces import stale_names
