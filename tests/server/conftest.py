"""A real server with the extension, and a history that tests write."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from ipyjaxbench.records import Location, make_entries
from ipyjaxbench.reports import Result
from tests.results import measured

NOW = time.time()
DAY = 86400.0
SOMEWHERE = Location("/project", "a.ipynb", "cell-1", 1)
CONTRACT = yaml.safe_load(
    (Path(__file__).parents[2] / "ipyjaxbench" / "server" / "openapi.yaml").read_text("utf-8")
)


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    """Load the extension, and fail where it fails."""
    return {
        "ServerApp": {
            "jpserver_extensions": {"ipyjaxbench.server": True},
            "reraise_server_extension_failures": True,
        }
    }


@pytest.fixture
def folder(jp_data_dir: Path) -> Path:
    """The history of this test's server."""
    place = jp_data_dir / "ipyjaxbench" / "history"
    place.mkdir(parents=True)
    return place


Keep = Callable[..., str]


@pytest.fixture
def keep(folder: Path) -> Keep:
    """Write a measurement as a kernel does; returns its id."""
    lines: dict[str, int] = {}

    def write(
        seconds: float = 1e-3,
        label: str = "",
        *,
        days: float = 1,
        run: str = "2026-11-01-1-aa",
        where: Location = SOMEWHERE,
        samples: int = 100,
        result: Result | None = None,
        revision: str = "",
        **facts: Any,
    ) -> str:
        nanoseconds = [round(seconds * 1e9) + i % 3 for i in range(samples)]
        kept = result or measured(nanoseconds, **facts)
        entries = list(
            make_entries(kept, label, when=NOW - days * DAY, where=where, revision=revision)
        )
        with (folder / f"{run}.jsonl").open("ab") as file:
            for entry in entries:
                file.write(msgspec.json.encode(entry) + b"\n")
        lines[run] = lines.get(run, 0) + len(entries)
        return f"{run}.{lines[run]}"

    return write


@pytest.fixture
def ask(jp_fetch: Any) -> Callable[..., Any]:
    """Ask the API; returns the answer after it was held against the contract."""

    async def fetch(*path: str, **params: str) -> Any:
        answer = await jp_fetch("ipyjaxbench", "api", *path, params=params)
        body = json.loads(answer.body)
        check(body, path[0] if len(path) == 1 or path[0] == "notebook" else "details")
        return body

    return fetch


_ANSWERS = {"history": "History", "details": "Details", "notebook": "Notebook",
            "compare": "Comparison", "machine": "Machine", "live": "Live"}  # fmt: skip


def check(body: Any, answer: str) -> None:
    """Hold an answer against the schema that the contract has for it."""
    import jsonschema

    schema = {"$ref": f"#/components/schemas/{_ANSWERS[answer]}", **CONTRACT}
    jsonschema.Draft202012Validator(schema).validate(body)


def write_notebook(
    path: Path, *cells: tuple[str, str], results: dict[str, Result] | None = None
) -> None:
    """Write a notebook with cells of these ids and sources, and results saved in them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [
            {"cell_type": "code", "id": cell_id, "source": source, "metadata": {},
             "execution_count": None, "outputs": _outputs((results or {}).get(cell_id))}
            for cell_id, source in cells
        ],
    }  # fmt: skip
    path.write_text(json.dumps(content), "utf-8")


def _outputs(result: Result | None) -> list[dict[str, Any]]:
    if result is None:
        return []
    return [{"output_type": "display_data", "metadata": {}, "data": result._repr_mimebundle_()}]
