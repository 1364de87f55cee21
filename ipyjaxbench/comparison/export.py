"""Pandas frames, for those who go on with them."""

from typing import Any

from ipyjaxbench.errors import MissingLibraryError


def frame(records: list[dict[str, Any]]) -> Any:
    """Return a pandas frame with a row for each record."""
    try:
        import pandas
    except ImportError:
        raise MissingLibraryError("pandas") from None
    return pandas.DataFrame(records)
