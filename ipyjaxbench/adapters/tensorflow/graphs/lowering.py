"""What XLA makes of a graph: its text at each stage."""

import re
import warnings
from typing import Any

import tensorflow as tf

from ipyjaxbench.adapters.shared import hlo
from ipyjaxbench.adapters.tensorflow.compilation import isolate_traces
from ipyjaxbench.adapters.tensorflow.graphs.isolation import TensorFlowUndoLog
from ipyjaxbench.adapters.tensorflow.graphs.tracing import Traced, quiet
from ipyjaxbench.errors import CODE_ERRORS, SnippetError, by_caller
from ipyjaxbench.graphs import GraphOptions
from ipyjaxbench.option import spell

#: What TensorFlow calls our stages.
_THEIRS = {"stablehlo": "stablehlo", "hlo": "hlo_no_metadata", "optimized": "optimized_hlo"}
_MISSING = re.compile(r"(\w+) \(No registered")


def lower(traced: Traced, stage: str) -> str:
    """Return the text of a stage, of a function of its own; only "optimized" compiles it.

    Raises:
        SnippetError: XLA cannot compile it.
    """
    twin, specs = traced.twin()
    other = [each.name for each in traced.inputs if not _is_dense(each.spec)]
    if other:
        raise SnippetError(
            f"{_spelled(stage)}: XLA supports dense numeric tensors only, which"
            f" {', '.join(other)} is not; use {_spelled('tf')}"
        )
    unknown = [each.name for each in traced.inputs if not _is_known(each.spec)]
    if unknown:
        raise SnippetError(
            f"{_spelled(stage)}: XLA needs the full shape of {', '.join(unknown)}: pass a tensor,"
            f" or {by_caller('--shapes', 'a tf.TensorSpec')} without None"
        )
    try:
        # The device is named: to find out, TensorFlow would draw a random number of the user's.
        log = TensorFlowUndoLog(traced.call, is_copy=traced.is_copy)
        with log, quiet(), isolate_traces(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = twin.experimental_get_compiler_ir(*specs)
            text: Any = made(stage=_THEIRS[stage], device_name=_device())
    except CODE_ERRORS as error:
        raise SnippetError(f"{_spelled(stage)}: {_why(error)}; use {_spelled('tf')}") from error
    return hlo.readable(str(text))


def _is_dense(spec: Any) -> bool:
    return spec is None or (isinstance(spec, tf.TensorSpec) and spec.dtype != tf.string)


def _is_known(spec: Any) -> bool:
    return spec is None or bool(spec.shape.is_fully_defined())


def _device() -> str:
    """Return the first device on which TensorFlow computes where nobody says otherwise."""
    devices = tf.config.list_logical_devices()
    chosen = next((d for d in devices if d.device_type == "GPU"), devices[0])
    is_short = chosen.name.startswith("/device:")
    return f"/job:localhost/replica:0/task:0{chosen.name}" if is_short else str(chosen.name)


def _spelled(stage: str) -> str:
    return spell(GraphOptions, stage=stage)


def _why(error: BaseException) -> str:
    missing = list(dict.fromkeys(_MISSING.findall(str(error))))
    if missing:
        return f"XLA does not support {', '.join(missing)}"
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    message = first.removeprefix("Failed getting HLO text: '")[:160]
    return f"XLA cannot compile this: {message or type(error).__name__}"
