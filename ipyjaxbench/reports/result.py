"""The base of every result: frozen facts that report themselves and can be saved."""

import functools
import importlib
from abc import abstractmethod
from typing import Any, ClassVar, Self, final

from ipyjaxbench.errors import MissingLibraryError, RecordError
from ipyjaxbench.reports.blocks import Report

MIME = "application/vnd.ipyjaxbench.result.v1+json"
_SCHEMA = 1


@functools.singledispatch
def report(result: object) -> Report:
    """Return the report of a result, headline first.

    A result knows no report: that of a class in ``graph.py`` is registered by ``graph_report.py``,
    which is imported when the first one is asked for.
    """
    importlib.import_module(f"{type(result).__module__}_report")
    registered = report.dispatch(type(result))
    if registered is report.dispatch(object):
        raise TypeError(f"no report is registered for {type(result).__name__}")
    return registered(result)


def spell_report(report: Report) -> dict[str, Any]:
    """Return a report as text and as HTML, by their MIME types."""
    from ipyjaxbench.reports import html, text

    return {
        "text/plain": text.render(report, coloured=text.is_coloured()),
        "text/html": html.render(report),
    }


class Reported:
    """What reports itself, as text and in a notebook."""

    @final
    def report(self) -> Report:
        """Return what was found, as blocks, headline first."""
        return report(self)

    @final
    def __str__(self) -> str:
        """The full report as text."""
        from ipyjaxbench.reports import text

        return text.render(self.report())

    @final
    def plot(self, ax: Any = None) -> Any:
        """Draw the first picture of the report with matplotlib.

        Args:
            ax: matplotlib Axes to draw on; None makes a figure with all pictures of the report.

        Returns:
            The Axes that were drawn on; an array of them where there are several.

        Raises:
            MissingLibraryError: matplotlib is not installed.
            OptionError: the report has no picture, as that of one sample or of unsharded arrays.

        Example:
            >>> # ipyjaxbench.measure(f, x).plot().figure.savefig("f.png")
        """
        from ipyjaxbench.reports import figures

        return figures.plot(self.report().pictures(), ax)

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return plain rows for a table; the names of columns end in their units."""

    @final
    def to_pandas(self) -> Any:
        """Return the result as a pandas DataFrame.

        Returns:
            The DataFrame of `rows`; names of columns end in their units, as ``median_s``.

        Raises:
            MissingLibraryError: pandas is not installed.

        Example:
            >>> # ipyjaxbench.history(last=None).to_pandas().plot(x="measured", y="median_s")
        """
        try:
            import pandas
        except ImportError:
            raise MissingLibraryError("pandas") from None
        return pandas.DataFrame(self.rows())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """Return text and HTML."""
        return spell_report(self.report())


class Result(Reported):
    """Measured facts; everything else is computed from them.

    Attributes:
        kind: the name of this kind of result in records.
    """

    kind: ClassVar[str]

    def check(self) -> str | None:
        """Return why these facts contradict each other, in words; None where they do not.

        A number that cannot be is refused by its type: see `ipyjaxbench.record_types`.
        """
        return None

    @final
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Text, HTML and the record: the three forms in which a notebook keeps a result."""
        return {**super()._repr_mimebundle_(include, exclude), MIME: self.to_dict()}

    @final
    def to_dict(self) -> dict[str, Any]:
        """Return a record of plain dictionaries, lists, numbers and strings, ready for JSON.

        Returns:
            The facts with the schema's version and the kind of result.
        """
        import msgspec

        facts = msgspec.json.decode(msgspec.json.encode(self))  # as a saved notebook has it
        return {"schema": _SCHEMA, "kind": self.kind, "facts": facts}

    @final
    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """Read a record back.

        Args:
            record: what `to_dict` gave, or what was read from a notebook; it is not trusted.

        Returns:
            A result equal to the one that was saved.

        Raises:
            RecordError: the record is of another version or kind, or its facts make no sense.

        Example:
            >>> # Measurement.from_dict(measurement.to_dict()) == measurement
        """
        import msgspec

        if not isinstance(record, dict):
            raise RecordError(f"a record is a dictionary, not {type(record).__name__}")
        schema, kind = record.get("schema"), record.get("kind")
        if schema != _SCHEMA:
            raise RecordError(
                f"the record has schema {schema!r} and this version reads schema {_SCHEMA}:"
                " update ipyjaxbench, or measure again"
            )
        if kind != cls.kind:
            raise RecordError(f"the record holds a {kind!r}, not a {cls.kind!r}")
        try:
            result = msgspec.convert(record.get("facts"), cls)
        # What is not plain data makes msgspec raise other errors than its own.
        except (ValueError, TypeError, AttributeError) as error:
            raise RecordError(f"the record is damaged: {error}") from None
        wrong = result.check()
        if wrong:
            raise RecordError(f"the record makes no sense: {wrong}")
        return result
