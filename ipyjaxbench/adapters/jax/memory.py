"""The memory that XLA planned for a call of a jitted function."""

from collections.abc import Mapping, Sequence

import jax

from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.graphs.compiled_work import known_program
from ipyjaxbench.adapters.jax.placement import device_name
from ipyjaxbench.device import MemoryMeter, MemoryPeak


class JaxMemory(MemoryMeter):
    """`memory_analysis()` of the executable that earlier calls have left."""

    def plan(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> MemoryPeak | None:
        """Return XLA's plan for one device: results and values in between, beyond the arguments.

        All results have their memory from the beginning on, so both are in use at once.
        """
        if not is_jitted(function) or jax.config.jax_disable_jit:
            return None
        program = known_program(function, args, kwargs)
        memory = program[1].memory_analysis() if program else None
        if program is None or memory is None:
            return None
        places = [s.device_set for s in jax.tree.leaves(program[1].output_shardings)]
        devices = sorted(set().union(*places), key=lambda device: device.id)
        new = int(memory.output_size_in_bytes - memory.alias_size_in_bytes)
        return MemoryPeak(
            framework="jax",
            place=device_name(devices[0])
            if len(devices) == 1
            else f"each of {len(devices)} devices",
            source="plan",
            peak=new + int(memory.temp_size_in_bytes),
            left=new,
            before=int(memory.argument_size_in_bytes),
        )
