"""The graph of a call in TensorFlow: of a new tf.function, so that none of the user's grows."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.diagnosis.diagnose import diagnose, explain
from ipyjaxbench.adapters.tensorflow.graphs import (
    autograph_source,
    keras_build,
    program,
    references,
    tracing,
)
from ipyjaxbench.adapters.tensorflow.graphs.input_signature import with_signature
from ipyjaxbench.adapters.tensorflow.graphs.stages import LiveGraph
from ipyjaxbench.errors import CODE_ERRORS, SnippetError
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.graphs import (
    Diagnosis,
    Graph,
    GraphOptions,
    GraphTracer,
    UntraceableError,
    Value,
    count_by_name,
    fold_lines,
    notes,
    select_lines,
)
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.usercode import Call, is_of

_CLOCK = Clock.elapsed()


class TensorFlowTracer(GraphTracer):
    """Graphs of new functions."""

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        """Trace a call as a new `tf.function`."""
        __tracebackhide__ = True
        try:
            leaves = trees.leaves((call.args, dict(call.kwargs)))
            is_theirs = any(map(_is_tensor, leaves)) or references.is_tensorflows(call)
        except CODE_ERRORS as error:
            why = f"TensorFlow cannot read the arguments of {call.text!r}: {type(error).__name__}"
            raise SnippetError(why) from error
        if not is_theirs:
            return None
        stage = options.stage_of("tensorflow")
        stale = tuple(_stale_programs(self.framework, call))
        call = call.with_arrays(lambda array: tf.TensorSpec(array.shape, array.dtype))
        call = replace(call, labels=keras_build.argument_names(call))
        call, is_copy = keras_build.prepare(call)
        sized, call = call, with_signature(call)
        with autograph_source.make_readable(call) as call:
            start = _CLOCK.now()
            try:
                traced = tracing.trace(call, makes_variables=is_copy)
            except CODE_ERRORS as error:
                raise UntraceableError(diagnose(call, error), error) from error
            seconds = (_CLOCK.now() - start) * 1e-9
        concrete, live = traced.concrete, LiveGraph(traced, sized)
        counted = program.Counted(concrete.graph)
        functions = [leaf for leaf in (call.function, *leaves) if callable(leaf)]
        names = {
            id(value): name for each in functions for name, value in references.used_values(each)
        }
        variables = [each.value for each in traced.inputs if each.spec is None]
        copied = [notes.copy_built()] if is_copy else []
        graph = Graph(
            code=call.text,
            framework="tensorflow",
            frameworks={"tensorflow": tf.__version__},
            form=stage,
            program=select_lines(_text(live, stage, options), options.find),
            inputs=tuple(value for each in traced.inputs for value in _values(each)),
            outputs=tuple(program.value_of("", tensor) for tensor in concrete.outputs),
            constants=program.constants_of(concrete, variables, names),
            operations=counted.operations,
            flops=counted.flops,
            uncounted=tuple(counted.uncounted),
            stats=count_by_name(counted.steps),
            lines=counted.lines(call.text),
            fixed=traced.fixed,
            seconds=seconds,
            printed=traced.printed,
            notes=(*stale, *copied, *traced.side_effects.tracer_notes("symbolic tensor")),
            warm=traced.warm,
            details=options.details,
        )
        return graph.attach(live)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """Explain what was raised while a graph was made; that function is traced once more."""
        return explain(error)


def _stale_programs(framework: Framework, call: Call) -> Iterator[Note]:
    """Note what changed since functions were traced that such a call is, or calls."""
    if "ipyjaxbench.retracing.trace_log" in sys.modules:  # else no trace was seen
        from ipyjaxbench.adapters.shared.stale_programs import note_stale_graphs
        from ipyjaxbench.adapters.tensorflow.retracing.call_watch import TensorFlowCallWatch

        yield from note_stale_graphs(TensorFlowCallWatch(framework), call)


def _text(live: LiveGraph, stage: str, options: GraphOptions) -> str:
    if stage == "tf":
        return program.text_of(live.program.graph, options.depth)
    text = live.text(stage)
    return text if options.depth is None else fold_lines(text)


def _is_tensor(leaf: Any) -> bool:
    kinds = (tf.Tensor, tf.TypeSpec, *references.COMPOSITES)
    return is_of(leaf, *kinds) or references.is_variable(leaf)


def _values(tensor: tracing.Input) -> list[Value]:
    """Return an argument's tensors: those of a ragged or a sparse one are several."""
    if tensor.spec is None:
        return [program.value_of(tensor.name, tensor.value)]
    parts = tf.nest.flatten(tensor.spec, expand_composites=True)
    return [program.value_of(tensor.name, part) for part in parts]
