"""Notebooks as files, made by hand."""

import json
from pathlib import Path
from typing import Any

from ipyjaxbench.reports.result import MIME, Result


def cell(source: str, *results: object, cell_id: str = "") -> dict[str, Any]:
    """A cell that was run; what is no result is put in as it is."""
    records = [each.to_dict() if isinstance(each, Result) else each for each in results]
    outputs = [
        {"output_type": "display_data", "data": {MIME: each, "text/plain": ""}, "metadata": {}}
        for each in records
    ]
    identified = {"id": cell_id} if cell_id else {}
    return {
        "cell_type": "code",
        "source": source,
        "outputs": outputs,
        "execution_count": 1,
        "metadata": {},
        **identified,
    }


def notebook(path: Path, *cells: object, indent: int | None = None, **changes: Any) -> Path:
    """A notebook of these cells."""
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"language_info": {"name": "python", "version": "3.11.7"}},
        "cells": list(cells),
        **changes,
    }
    path.write_text(json.dumps(content, indent=indent), "utf-8")
    return path
