"""What the programs of a jitted function compute, as written and as compiled."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax

from ipyjaxbench.adapters.jax.compile_events import Events
from ipyjaxbench.adapters.jax.graphs.program import constants_of
from ipyjaxbench.adapters.jax.graphs.tally import Tally, TooLargeError, usage_of
from ipyjaxbench.adapters.jax.placement import is_host
from ipyjaxbench.device import BUSY, fastest_product
from ipyjaxbench.frameworks import Work
from ipyjaxbench.host import Clock, Meter

_CLOCK = Clock.elapsed()
_SECONDS = 0.05  # for the products that show what a device can do in one dtype


class Works:
    """Counts what calls compute, and measures once what each device can do."""

    def __init__(self, probe: Callable[[Any], Any]) -> None:
        self._probe = probe
        self._peaks: dict[tuple[Any, str], float] = {}
        self._disturbed: dict[tuple[Any, str], float] = {}  # of a machine that had more to do

    def find_work(
        self, function: Any, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Work | None:
        """Return the work of a call from the programs that earlier calls made; None if unknown."""
        program = known_program(function, args, kwargs)
        if program is None:
            return None
        jaxpr, compiled = program
        places = [s.device_set for s in jax.tree.leaves(compiled.output_shardings)]
        devices = set().union(*places)
        cost = cost_analysis(compiled)
        if len(devices) != 1 or not cost:  # a program without operations has bytes alone
            return None
        try:
            usage = usage_of(jaxpr)
        except TooLargeError:
            return None
        tally = Tally(jaxpr)
        (device,) = devices
        return Work(
            flops=tally.certain,
            written=usage.written - usage.primal,
            unused=usage.unused - usage.primal,
            constant=usage.constant,
            compiled=cost.get("flops", 0.0) + cost.get("transcendentals", 0.0),
            constant_bytes=sum(each.nbytes for each in constants_of(jaxpr)),
            peak=lambda: self._peak(device, tally.products),
        )

    def _peak(self, device: Any, products: Mapping[str, float]) -> float | None:
        """Return FLOP/s of the fastest product in any dtype that matters; None if it is busy."""
        least = 0.01 * sum(products.values())
        dtypes = {dtype for dtype, flops in products.items() if flops > least} or {"float32"}
        for dtype in dtypes:
            if (device, dtype) not in self._peaks:
                self._measure(device, dtype)
        known = [self._peaks.get((device, dtype)) for dtype in dtypes]
        return None if None in known else max(filter(None, known))

    def _measure(self, device: Any, dtype: str) -> None:
        """Measure the peak of a dtype; while others have the CPUs it is no peak of the host's."""
        probe, key, meter = self._probe(device), (device, dtype), Meter(_CLOCK)
        with probe.default_settings():
            rate, _ = fastest_product(
                partial(probe.product, dtype), _CLOCK, _SECONDS, probe.sides, probe.in_a_row
            )
        rate = max(rate, self._disturbed.get(key, 0.0))
        is_busy = meter.read().taken > BUSY and is_host(device)
        (self._disturbed if is_busy else self._peaks)[key] = rate


def cost_analysis(compiled: Any) -> dict[str, float]:
    """Return what XLA counts; empty where it does not tell."""
    cost = compiled.cost_analysis() or {}
    return cost[0] if isinstance(cost, list) else cost  # a list before 0.5


def known_program(
    function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[Any, Any] | None:
    """Return the jaxpr and executable of earlier calls; None where asking would make them."""
    with Events() as events, jax.transfer_guard("allow"):
        traced = function.trace(*args, **kwargs)
        lowered = traced.lower()
        # A trace may be told where only its look-up was timed; what is lowered anew is new.
        if "lower" in events.phases():
            return None
        return traced.jaxpr, lowered.compile()
