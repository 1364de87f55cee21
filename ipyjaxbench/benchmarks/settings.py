"""The options of ``fwbench`` that were typed, and what they stand for."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.records import Benchmarks, read_benchmarks
from ipyjaxbench.validation import checked

LAST = "last"
_MAX_PERCENT = 10_000


@dataclass(frozen=True)
class Settings:
    """What was asked for.

    Attributes:
        json: the file to write; empty for none.
        against: "last" or the file to compare with; empty for none.
        base: the run in that file.
        limit: by how much a test may be slower, as a share; None where none fails for it.
        quick: whether to measure less precisely.
        called_only: why nothing is measured, in words; empty where it is.
    """

    json: str = ""
    against: str = ""
    base: Benchmarks | None = None
    limit: float | None = None
    quick: bool = False
    called_only: str = ""


def read_settings(config: pytest.Config) -> Settings:
    """Return what was asked for.

    Raises:
        OptionError: an option breaks a rule.
        RecordError: the file to compare with cannot be read.
    """
    json, against = config.getoption("fwbench_json"), config.getoption("fwbench_compare")
    limit = config.getoption("fwbench_fail_slower")
    if limit is not None:
        typed = f"--fwbench-fail-slower {limit}"
        limit = checked(limit, percentage, typed=typed, example="--fwbench-fail-slower 10%")
        if against is None:
            raise OptionError(
                f"{typed} has nothing to compare with: add --fwbench-compare FILE or last"
            )
    called_only = _why_not_measured(config)
    asked = [name for name, value in (("json", json), ("compare", against)) if value is not None]
    if called_only and asked:
        raise OptionError(f"--fwbench-{asked[0]}: nothing is measured {called_only}")
    return Settings(
        json=_writable(json),
        against=against or "",
        base=None if against in (None, LAST) else _base(against),
        limit=limit,
        quick=config.getoption("fwbench_quick"),
        called_only=called_only,
    )


def percentage(text: str) -> float:
    """Return a share.

    Example:
        >>> percentage("10%")
        0.1
    """
    match = re.fullmatch(r"(\d{1,5}(?:\.\d+)?) ?%", text.strip())
    if match is None or float(match[1]) > _MAX_PERCENT:
        raise ValueError("a percentage, 0% or more")
    return float(match[1]) / 100


def _why_not_measured(config: pytest.Config) -> str:
    if config.getoption("fwbench_disable"):
        return "with --fwbench-disable"
    workers = getattr(config, "workerinput", {}).get("workercount", 0)
    workers = workers or len(config.getoption("tx", None) or ())
    if workers or config.getoption("dist", "no") != "no":
        return "under pytest-xdist, whose workers would disturb each other: add -n 0"
    return ""


def _base(against: str) -> Benchmarks:
    if not against:
        raise OptionError("--fwbench-compare '': must be a file, or last")
    return read_benchmarks(against)


def _writable(json: str | None) -> str:
    """Return the file to write, where it can be written."""
    if json is None:
        return ""
    path = Path(json)
    if not json or path.is_dir():
        raise OptionError(f"--fwbench-json {json or repr(json)}: must be a file to write")
    if not path.parent.is_dir():
        raise OptionError(f"--fwbench-json {json}: there is no directory {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise OptionError(f"--fwbench-json {json}: {path.parent} is not writable")
    return json
