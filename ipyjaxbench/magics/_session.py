"""What the magics of one shell share."""

from dataclasses import dataclass, field

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.graph import Graph
from ipyjaxbench.magics._await import Awaiter
from ipyjaxbench.magics._watcher import Watcher
from ipyjaxbench.measurement import Measurement


@dataclass(frozen=True)
class Session:
    """What the magics of one shell share.

    Attributes:
        shell: where they are typed.
        watcher: tells of traces below cells.
        awaiter: puts ``await`` before magics.
        kept: measurements by the name under which they were kept.
        looked_at: programs by what was looked at, and in which form.
    """

    shell: InteractiveShell
    watcher: Watcher
    awaiter: Awaiter
    kept: dict[str, Measurement] = field(default_factory=dict)
    looked_at: dict[tuple[str, str], Graph] = field(default_factory=dict)
