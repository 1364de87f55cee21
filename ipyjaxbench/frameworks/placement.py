"""What an array is and where it is: its framework, type, devices and bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipyjaxbench import units


@dataclass(frozen=True)
class ArrayInfo:
    """What one array is and where it is.

    Attributes:
        name: its name with the path to it, such as "params['w']"; empty if it has none.
        framework: the framework that owns it; empty if it is no array.
        dtype: such as "float32"; the type of a value that is no array.
        shape: shape of the array.
        nbytes: bytes of one copy of it.
        devices: devices that hold it or a part of it.
    """

    name: str
    framework: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Placement:
    """What one array is and where it lives, or several under one name.

    Attributes:
        name: the name in the code, or "" for the value of the last expression.
        framework: "jax", "torch", "tensorflow", "numpy" or a third party's.
        arrays: number of arrays under the name.
        dtype: such as "float32"; "mixed" where the arrays differ.
        shape: shape of the array; None if there are several arrays.
        devices: such as ("cuda:0", "cuda:1"), in alphabetical order.
        nbytes: bytes of all arrays together.
        view: whether all of them are known to share memory with other objects.
        recorded: whether autograd recorded how any of them was made.
    """

    name: str
    framework: str
    arrays: int
    dtype: str
    shape: tuple[int, ...] | None
    devices: tuple[str, ...]
    nbytes: int
    view: bool = False
    recorded: bool = False

    @classmethod
    def together(cls, name: str, parts: "Sequence[Placement]") -> "Placement":
        """Return one placement for several arrays of one framework under one name."""
        dtypes = {part.dtype for part in parts}
        return cls(
            name=name,
            framework=parts[0].framework,
            arrays=len(parts),
            dtype=dtypes.pop() if len(dtypes) == 1 else "mixed",
            shape=parts[0].shape if len(parts) == 1 else None,
            devices=tuple(sorted({device for part in parts for device in part.devices})),
            nbytes=sum(part.nbytes for part in parts),
            view=all(part.view for part in parts),
            recorded=any(part.recorded for part in parts),
        )

    @property
    def on_gpu(self) -> bool:
        """Whether one of the devices is a CUDA GPU."""
        return any(device.startswith(("cuda", "gpu")) for device in self.devices)

    def words(self) -> str:
        """Return ``x f32[3,4] cpu:0`` for one, ``params 12 arrays 3.4 MiB cpu:0`` for several."""
        if self.shape is not None:
            kind = units.array(self.dtype, self.shape)
        else:
            kind = f"{units.count(self.arrays, 'array')} {units.size(self.nbytes)}"
        return " ".join(filter(None, (self.name, kind, _devices(self.devices))))


def _devices(devices: Sequence[str]) -> str:
    if len(devices) <= 2:
        return ", ".join(devices)
    return f"{devices[0]} … {devices[-1]} ({len(devices)} devices)"
