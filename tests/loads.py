"""What calls have to do."""

from typing import Any

from ipyjaxbench.frameworks import Framework, find_arrays, loaded
from ipyjaxbench.graphs.components import Workload
from ipyjaxbench.graphs.protocol import GraphTracer
from ipyjaxbench.usercode import call
from ipyjaxbench.usercode.snippet import Source

N = 16
PRODUCT = 2.0 * N**3
BYTES = 4 * N * N


def named(framework: str) -> Framework:
    return next(each for each in loaded()[0] if each.name == framework)


def load(framework: str, code: str, **names: Any) -> Workload | None:
    def is_data(value: object) -> bool:
        return bool(find_arrays(value, loaded()[0]))

    return (
        named(framework)
        .capability(GraphTracer)
        .workload(call.read_call(Source.plain(code), names, is_data))
    )


def in_float32(nbytes: int | None, *, shortcuts: bool = False, flops: float = PRODUCT) -> Workload:
    return Workload({"float32": flops}, shortcuts, nbytes)
