"""Writes the texts of the saved notebook anew: ``python -m tests.records.resave``.

The records stay as an earlier version saved them; their reports are in the words of this one.
"""

import json
import os
import sys
import time
from pathlib import Path

from ipyjaxbench.records.notebooks import find_kind

NOTEBOOK = Path(__file__).parent / "saved" / "every_kind.ipynb"
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
    text = json.dumps(output, ensure_ascii=False, separators=(",", ":"))
    return indent + text + line.lstrip()[end:]


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    sys.stdout = None  # no terminal says how wide the text is
    lines = NOTEBOOK.read_text("utf-8").split("\n")
    NOTEBOOK.write_text("\n".join(map(resave, lines)), "utf-8")
