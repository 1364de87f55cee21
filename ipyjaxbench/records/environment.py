"""What was around a measurement, so that another one can be held against it fairly."""

import dataclasses
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ipyjaxbench.host import describe_machine
from ipyjaxbench.timing import Measurement

_MAX_NAMES = 8
_Two = tuple[str, str, str]  # what may have changed, before and now


@dataclass(frozen=True)
class Environment:
    """Versions, devices and machine of one measurement.

    Attributes:
        python: its version; empty where it is not known.
        frameworks: versions by name, of those that were used.
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
        """Return what was around a measurement made on this machine, by this Python."""
        machine = describe_machine()
        return dataclasses.replace(
            cls.saved(m, platform.python_version()),
            cpu=str(machine["cpu"] or ""),
            cpus=int(machine["cpus"] or 0),
            revision=revision,
        )

    @classmethod
    def saved(cls, m: Measurement, python: str = "") -> "Environment":
        """Return what was around a measurement as far as its record says."""
        machine, places = m.conditions, (*m.inputs, *m.outputs)
        return cls(
            python=python,
            frameworks=m.frameworks,
            devices=tuple(sorted({device for place in places for device in place.devices})),
            cpu=(machine.model or "") if machine else "",
            cpus=machine.cpus if machine else 0,
            gpus=tuple(g.name for g in machine.gpus if g.ours is not False) if machine else (),
            data=_data(m),
        )

    def differences(self, now: "Environment") -> tuple[str, ...]:
        """Return what has changed since, in words; what one of them does not know is left out."""
        changed = (
            f"{name} {kind} → {now.data[name]}"
            for name, kind in self.data.items()
            if now.data.get(name, kind) != kind
        )
        return (*self._versions(now), *changed, *self._surroundings(now))

    def changes(self, now: "Environment") -> tuple[str, ...]:
        """Return what has changed since around the code, in words: not what it was given."""
        return (*self._versions(now), *self._surroundings(now))

    def elsewhere(self, now: "Environment") -> tuple[str, ...]:
        """Return in which other machine or devices it is now, in words: times do not compare."""
        machine = ("machine ", self._machine(), now._machine())
        return tuple(_changed((machine, *self._devices(now))))

    def _versions(self, now: "Environment") -> Iterator[str]:
        for name, version in sorted(self.frameworks.items()):
            if name != "python" and now.frameworks.get(name, version) != version:
                yield f"{name} {version} → {now.frameworks[name]}"

    def _surroundings(self, now: "Environment") -> Iterator[str]:
        devices, gpus = self._devices(now)
        yield from _changed(
            (
                ("Python ", self.python, now.python),
                devices,
                ("machine ", self._machine(), now._machine()),
                gpus,
                ("git ", self.revision[:7], now.revision[:7]),
            )
        )

    def _devices(self, now: "Environment") -> tuple[_Two, _Two]:
        return (
            ("", " ".join(self.devices), " ".join(now.devices)),
            ("", ", ".join(self.gpus), ", ".join(now.gpus)),
        )

    def _machine(self) -> str:
        return f"{self.cpus} × {self.cpu or 'CPU'}" if self.cpus else ""


def _changed(pairs: Iterable[_Two]) -> Iterator[str]:
    for what, before, after in pairs:
        if before and after and before != after:
            yield f"{what}{before} → {after}"


def _data(m: Measurement) -> dict[str, str]:
    """Return what a measurement read, by name: types and shapes, or how many arrays."""
    named = [dataclasses.replace(place, name="", devices=()) for place in m.inputs[:_MAX_NAMES]]
    return {place.name: kind.words() for place, kind in zip(m.inputs, named, strict=False)}
