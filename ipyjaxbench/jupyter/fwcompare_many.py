"""``%%fwcompare --sweep engines=1,2,4``: arms on more and more engines."""

import ast
import sys
from collections.abc import Sequence

from ipyjaxbench.comparison import ArmSpec, CompareOptions, Sweep, check_labels, values_of
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import measure_until_stopped
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.usercode import Snippet

_NAME = "engines"
_CLIENTS = ("ipyparallel", "distributed")
_EXAMPLE = "%%fwcompare --sweep engines=1,2,4"


def sweeps_engines(magic: Invocation[CompareOptions]) -> bool:
    """Return whether numbers of engines are swept: their name is, and there is a client."""
    options = magic.options
    swept = any(name == _NAME for name, _ in options.sweep)
    if options.engines is not None and not swept:
        raise OptionError(f"--engines needs numbers of engines: {_EXAMPLE}")
    found = swept and (options.engines is not None or _has_client(magic))
    if options.scaling is not None and not found:
        raise OptionError(f"--scaling needs numbers of engines: {_EXAMPLE}")
    return found


def _has_client(magic: Invocation[CompareOptions]) -> bool:
    if not any(library in sys.modules for library in _CLIENTS):
        return False
    from ipyjaxbench import cluster

    return cluster.has_client(magic.names)


def sweep_engines(
    magic: Invocation[CompareOptions], setup: Snippet | None, specs: Sequence[ArmSpec]
) -> tuple[Sweep, BaseException | None]:
    """Time arms on the engines, in their own names; return also what ended it."""
    __tracebackhide__ = True
    from ipyjaxbench import cluster

    options = magic.options
    _refuse(options)
    check_labels([spec.label for spec in specs])
    [(_, text)] = options.sweep
    numbers = values_of(_NAME, text, magic.names)
    arms = [
        cluster.EngineArm(spec.label, _text(spec.snippet), _text(spec.setup) or None, _text(setup))
        for spec in specs
    ]
    with magic.progress("asking engines") as on_progress:
        engines = cluster.find_engines(options.engines or "all", magic.names)
        members = cluster.find_members(engines, options.timeout)
        return measure_until_stopped(
            cluster.sweep_engines, *(members, arms, numbers, options), on_progress=on_progress
        )


def _text(snippet: Snippet | None) -> str:
    """Return code as it is sent."""
    return ast.unparse(ast.Module(snippet.statements, [])) if snippet else ""


def _refuse(options: CompareOptions) -> None:
    """Refuse what needs arms in one process, and other names that are swept as well."""
    if len(options.sweep) > 1:
        raise OptionError("--sweep engines cannot be combined with another --sweep")
    for name, flag in (
        ("baseline", "--baseline"),
        ("keep_going", "--keep-going"),
        ("align", "--align"),
    ):
        if getattr(options, name):
            raise OptionError(
                f"{flag} works in one process alone: leave it out with --sweep engines"
            )
