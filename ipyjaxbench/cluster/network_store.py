"""Network peaks that were measured before: a file for each set of hosts, framework and version."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from ipyjaxbench.cluster.network_peaks import NetworkPeaks
from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks import Collectives, Framework
from ipyjaxbench.host import data_folder, make_data_folder, replace_file

_FOLDER = "networks"
_MAX_BYTES = 10_000_000  # of a file; a larger one is none of ours


class NetworkKey(NamedTuple):
    """What network peaks depend on."""

    framework: str
    version: str
    transport: str
    hosts: tuple[str, ...]  # of each rank
    participants: int


def read(key: NetworkKey) -> NetworkPeaks | None:
    """Return the peaks that were stored; None where there are none that can be read."""
    import msgspec

    path = _path(key)
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return None
        peaks = NetworkPeaks.from_dict(msgspec.json.decode(path.read_bytes()))
    except (OSError, ValueError, RecursionError, RecordError):
        return None
    return peaks if key == NetworkKey(*(getattr(peaks, n) for n in NetworkKey._fields)) else None


def find_network(framework: Framework, hosts: tuple[str, ...]) -> NetworkPeaks | None:
    """Return what was measured before of the network between these hosts, one for each rank."""
    offers = framework.capability(Collectives)
    version, transport = framework.version(), offers.transport()
    return read(NetworkKey(framework.name, version, transport, hosts, offers.participants()))


def write(key: NetworkKey, peaks: NetworkPeaks) -> str:
    """Store peaks in place of those from before; return why that failed, or ""."""
    if make_data_folder(_FOLDER) is None:
        return "not stored for other sessions: Jupyter's data directory is not writable"
    try:
        replace_file(_path(key), json.dumps(peaks.to_dict()))
    except OSError as error:
        return f"not stored for other sessions: {error.strerror or error}"
    return ""


def _path(key: NetworkKey) -> Path:
    """Return a file's name: the framework, and the rest as a number that names no machine."""
    number = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
    return data_folder(_FOLDER) / f"{key.framework}-{number}.json"
