"""What was around a measurement, so that another one can be held against it fairly."""

import dataclasses
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field

from ipyjaxbench.host import describe_machine
from ipyjaxbench.timing import Measurement

_MOST_NAMES = 8


@dataclass(frozen=True)
class Environment:
    """Versions, devices and machine of one measurement.

    Attributes:
        python: its version; empty where it is not known.
        frameworks: versions by name, of those in play.
        devices: where the values lived, such as "jax cuda:0".
        cpu: what the CPU calls itself; empty where it is not known.
        cpus: how many logical CPUs there are; 0 where it is not known.
        gpus: names of the GPUs that were in use.
        revision: of the code in Git, in the working directory; empty where there is none.
        data: what the code read, by name, such as "f32[128,64]".
    """

    python: str = ""
    frameworks: dict[str, str] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    cpu: str = ""
    cpus: int = 0
    gpus: tuple[str, ...] = ()
    revision: str = ""
    data: dict[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls, m: Measurement, revision: str = "") -> "Environment":
        """Around a measurement that was made on this machine, by this Python."""
        facts = describe_machine()
        gpus = m.conditions.gpus if m.conditions else ()
        return cls(
            python=platform.python_version(),
            frameworks=m.frameworks,
            devices=devices(m),
            cpu=str(facts["cpu"] or ""),
            cpus=int(facts["cpus"] or 0),
            gpus=tuple(gpu.name for gpu in gpus if gpu.ours is not False),
            revision=revision,
            data=data(m),
        )

    @classmethod
    def saved(cls, m: Measurement, python: str = "") -> "Environment":
        """Around a measurement as far as its record tells."""
        seen = m.conditions
        return cls(
            python=python,
            frameworks=m.frameworks,
            devices=devices(m),
            cpu=(seen.model or "") if seen else "",
            cpus=seen.cpus if seen else 0,
            gpus=tuple(gpu.name for gpu in seen.gpus if gpu.ours is not False) if seen else (),
            data=data(m),
        )

    def differences(self, now: "Environment") -> tuple[str, ...]:
        """What is not the same now, in words; what is not known of one of them is left out."""
        return tuple(self._differences(now))

    def _differences(self, now: "Environment") -> Iterator[str]:
        for name, version in sorted(self.frameworks.items()):
            if name != "python" and now.frameworks.get(name, version) != version:
                yield f"{name} {version}, now {now.frameworks[name]}"
        for name, kind in self.data.items():
            if now.data.get(name, kind) != kind:
                yield f"{name} {kind}, now {now.data[name]}"
        for what, before, after in (
            ("Python ", self.python, now.python),
            ("", " ".join(self.devices), " ".join(now.devices)),
            ("another machine: ", self._machine(), now._machine()),
            ("", ", ".join(self.gpus), ", ".join(now.gpus)),
            ("git ", self.revision[:7], now.revision[:7]),
        ):
            if before and after and before != after:
                yield f"{what}{before}, now {after}"

    def _machine(self) -> str:
        return f"{self.cpus} × {self.cpu or 'CPU'}" if self.cpus else ""


def devices(m: Measurement) -> tuple[str, ...]:
    """Return where the values lived that a measurement read and gave."""
    placements = (*m.inputs, *m.outputs)
    return tuple(sorted({device for place in placements for device in place.devices}))


def data(m: Measurement) -> dict[str, str]:
    """Return what a measurement read, by name: types and shapes, or how many arrays."""
    named = [dataclasses.replace(place, name="", devices=()) for place in m.inputs[:_MOST_NAMES]]
    return {place.name: kind.words() for place, kind in zip(m.inputs, named, strict=False)}
