"""Writes the texts of the saved notebook anew: ``python -m tests.records.resave``.

The records stay as an earlier version saved them; their reports are in the words of this one. So it
is with notebooks that are named behind it, such as those of the examples: nothing is run.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

import nbformat

from ipyjaxbench.errors import called_from
from ipyjaxbench.records.notebooks import find_kind
from ipyjaxbench.reports import html, text

NOTEBOOK = Path(__file__).parent / "saved" / "every_kind.ipynb"
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
MIME = "application/vnd.ipyjaxbench.result.v1+json"


def resave(line: str) -> str:
    """Return a line of the file; one that holds an output gets its record's text of today."""
    indent = line[: len(line) - len(line.lstrip())]
    try:
        output, end = json.JSONDecoder().raw_decode(line.lstrip())
        data = output["data"]
        record = data[MIME]
    except (ValueError, KeyError, TypeError):
        return line
    data["text/plain"] = str(find_kind(record["kind"]).from_dict(record))
    packed = json.dumps(output, ensure_ascii=False, separators=(",", ":"))
    return indent + packed + line.lstrip()[end:]


def resave_outputs(path: Path) -> None:
    """Write the reports of a notebook anew whose text is no longer what their records say."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for data in (output["data"] for output in cell.get("outputs", ()) if "data" in output):
            if MIME in data:
                result = find_kind(data[MIME]["kind"]).from_dict(data[MIME])
                with called_from("%magic"):  # advice is in the words of who reads
                    if str(result) != _COLOURS.sub("", data["text/plain"]):
                        data["text/plain"] = text.render(
                            result.report(), coloured=bool(_COLOURS.search(data["text/plain"]))
                        )
                        data["text/html"] = html.render(result.report())
    nbformat.write(notebook, path)


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    sys.stdout = None  # no terminal says how wide the text is
    for name in sys.argv[1:]:
        resave_outputs(Path(name))
    lines = NOTEBOOK.read_text("utf-8").split("\n")
    NOTEBOOK.write_text("\n".join(map(resave, lines)), "utf-8")
