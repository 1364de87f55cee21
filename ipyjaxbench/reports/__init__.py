"""What a result says, and how that looks: as text, as HTML, and as a record in a notebook.

`result.Result` is the base of all results, `blocks` are what reports are made of, and `note.Note`
is what a reader must know before believing a number. A report registers itself for its result with
`result.report`; only `text`, `html`, `badges`, `highlight` and `pictures` decide how blocks look.
All rooms may import from here but `host`; this room knows none of them.
"""

from ipyjaxbench.reports.blocks import (
    Block,
    Calls,
    Code,
    Details,
    Facts,
    Footer,
    Grid,
    Headline,
    Listing,
    Notes,
    Report,
    Table,
)
from ipyjaxbench.reports.note import CHANGES_MEANING, GOOD_TO_KNOW, Note
from ipyjaxbench.reports.pictures import (
    Axis,
    Bar,
    Bars,
    Chart,
    Distribution,
    Flow,
    Flows,
    Mark,
    Panel,
    Picture,
    Segment,
    Series,
    Stack,
    Tiles,
)
from ipyjaxbench.reports.result import MIME, Reported, Result, report, spell_report
from ipyjaxbench.reports.sparkline import curve, sparkline
from ipyjaxbench.reports.text import to_printable
