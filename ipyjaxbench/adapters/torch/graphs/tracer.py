"""The graph of a call in PyTorch: ATen operations, what torch.compile sees, what is exported."""

import contextlib
import io
import sys
from collections.abc import Iterator
from functools import partial

from ipyjaxbench.adapters.torch.compilation import takes_whole
from ipyjaxbench.adapters.torch.diagnosis.diagnose import diagnose, explain
from ipyjaxbench.adapters.torch.graphs import stages
from ipyjaxbench.adapters.torch.graphs.arguments import check_shapes, inputs_with_state, plain_call
from ipyjaxbench.adapters.torch.graphs.captured import CapturedGraphs
from ipyjaxbench.adapters.torch.graphs.dynamo import trace_whole
from ipyjaxbench.adapters.torch.graphs.isolation import is_torchs, keep_settings
from ipyjaxbench.adapters.torch.graphs.program import operation
from ipyjaxbench.errors import CODE_ERRORS, IpyJaxBenchError, SnippetError
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.graphs import (
    Diagnosis,
    Graph,
    GraphOptions,
    GraphTracer,
    Uncounted,
    UntraceableError,
    count_by_line,
    count_by_name,
    select_lines,
)
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Note
from ipyjaxbench.usercode import Call, Shape, is_of

_CLOCK = Clock.elapsed()


class TorchTracer(GraphTracer):
    """ATen operations, found with fake tensors; what dynamo and `torch.export` make."""

    def load(self) -> None:
        """Import dynamo and fake tensors, which takes seconds."""
        if "torch._dynamo" in sys.modules:
            return
        with contextlib.suppress(ImportError, SnippetError), keep_settings():
            import torch._dynamo
            import torch._subclasses.fake_tensor
            import torch.fx.experimental.proxy_tensor  # noqa: F401

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        """Trace a call; it is made for ``--dynamo`` where there are graph breaks."""
        __tracebackhide__ = True
        stale = tuple(_stale_program(self.framework, call))
        has_values = not any(is_of(arg, Shape) for arg in call.args)
        is_whole = takes_whole(call.function)
        call = plain_call(call)
        try:
            inputs = inputs_with_state(call)
            is_theirs = bool(inputs.where) or is_torchs(call)
        except CODE_ERRORS as error:
            why = f"PyTorch cannot read the arguments of {call.text!r}: {type(error).__name__}"
            raise SnippetError(why) from error
        if not is_theirs:
            return None
        stage = options.stage_of("torch")
        check_shapes(inputs, may_be_lazy=stage == "dynamo")
        find = trace_whole if stage == "dynamo" and is_whole else stages.STAGES[stage]
        if not has_values:
            find = partial(stages.trace_without_values, stage=stage)
        start = _CLOCK.now()
        written = io.StringIO()
        try:
            with keep_settings(), contextlib.redirect_stdout(written):
                captured = find(call)
                seconds = (_CLOCK.now() - start) * 1e-9
                steps = [step for program in captured.programs for step in program.steps]
        except IpyJaxBenchError:
            raise
        except CODE_ERRORS as error:
            with keep_settings(), contextlib.redirect_stdout(io.StringIO()):
                diagnosis = diagnose(call, error, find, has_values=has_values)
            raise UntraceableError(diagnosis, error) from error
        if not (steps or captured.inputs or captured.outputs):
            return None
        return Graph(
            code=call.text,
            framework="torch",
            frameworks={"torch": stages.VERSION},
            form=stage,
            program=select_lines(captured.text(whole=options.depth is None), options.find),
            inputs=captured.inputs,
            outputs=captured.outputs,
            constants=captured.constants,
            operations=len(steps),
            flops=sum(step.flops for step in steps),
            uncounted=(Uncounted("others"), *_missed(captured)),
            stats=count_by_name((step.name, step.flops) for step in steps),
            lines=count_by_line(steps),
            tries=captured.tries,
            seconds=seconds,
            printed=written.getvalue(),
            notes=(*stale, *captured.notes),
            breaks=captured.breaks,
            details=options.details,
        ).attach(stages.LiveProgram(call, stage, captured))

    def explain(self, error: BaseException) -> Diagnosis | None:
        """Explain why torch.compile would not take a function as one graph."""
        return explain(error)


def _stale_program(framework: Framework, call: Call) -> Iterator[Note]:
    """Yield what the program lacks that such a call runs."""
    hooks = sys.modules.get("ipyjaxbench.adapters.torch.retracing.lacking_hooks")
    if hooks is None or not hooks.may_be_any():
        return
    from ipyjaxbench.adapters.shared.stale_programs import note_stale_graphs
    from ipyjaxbench.adapters.torch.retracing.call_watch import TorchCallWatch

    yield from note_stale_graphs(TorchCallWatch(framework), call)


def _missed(captured: CapturedGraphs) -> Iterator[Uncounted]:
    """Products for which there is no formula."""
    nodes = (node for program in captured.programs for node in program.flops.missed)
    names = dict.fromkeys(operation(node) for node in nodes)
    if names:
        yield Uncounted("products", ", ".join(names))
