"""Reads drawings back."""

from xml.etree import ElementTree

from ipyjaxbench.reports.pictures.drawing import Drawing

_SPACE = "{http://www.w3.org/2000/svg}"


def shapes(drawing: Drawing, tag: str) -> list[dict[str, str]]:
    """The attributes of all shapes of a kind, in the order in which they were drawn."""
    return [each.attrib for each in ElementTree.fromstring(drawing.svg()).iter(f"{_SPACE}{tag}")]


def words(drawing: Drawing) -> list[str]:
    """All that is written in a drawing."""
    return [each.text or "" for each in ElementTree.fromstring(drawing.svg()).iter(f"{_SPACE}text")]
