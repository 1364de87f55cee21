"""Reads drawings back, and the lines of pictures."""

from xml.etree import ElementTree

from ipyjaxbench.reports.pictures import Picture
from ipyjaxbench.reports.pictures.drawing import Drawing

_SPACE = "{http://www.w3.org/2000/svg}"


def shapes(drawing: Drawing, tag: str) -> list[dict[str, str]]:
    """The attributes of all shapes of a kind, in the order in which they were drawn."""
    return [each.attrib for each in ElementTree.fromstring(drawing.svg()).iter(f"{_SPACE}{tag}")]


def words(drawing: Drawing) -> list[str]:
    """All that is written in a drawing."""
    return [each.text or "" for each in ElementTree.fromstring(drawing.svg()).iter(f"{_SPACE}text")]


def lines(picture: Picture, columns: int = 80, labels: int = 0) -> list[str]:
    """What it is in text."""
    drawn = picture.lines(columns, labels)
    return ["".join(text for text, _ in spans).rstrip() for spans in drawn]
