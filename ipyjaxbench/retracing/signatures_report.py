"""The report of signatures: a line for each, with the reason for its trace."""

from ipyjaxbench import units
from ipyjaxbench.reports import Calls, Headline, Report, report
from ipyjaxbench.retracing.cache_key import describe_changes
from ipyjaxbench.retracing.signatures import Signatures

_MAX_SIGNATURES = 50  # that are shown


@report.register
def _(s: Signatures) -> Report:
    functions = len({(each.framework, each.name) for each in s.traced})
    head = Headline(
        "signatures", units.count(len(s.traced), "signature"),
        f"of {units.count(functions, 'function')}, since ipyjaxbench was loaded", "", "",
    )  # fmt: skip
    rows = [
        (each.name, f"{describe_changes(each.why)} · {each.arguments}")
        for each in s.traced[-_MAX_SIGNATURES:]
    ]
    calls = Calls(("function", "reason · arguments"), tuple(rows))
    return Report((head, calls) if rows else (head,))
