"""A graph as a drawing in Mermaid's language, which JupyterLab draws (https://mermaid.js.org)."""

from collections.abc import Iterable, Iterator, Sequence

from ipyjaxbench.graphs.components import Node

MERMAID_MIME = "text/vnd.mermaid"
_MAX_NODES = 80  # what a person can still follow


def draw_mermaid(nodes: Iterable[Node]) -> str:
    """Return the text of a flow chart of nodes in their order; those beyond a limit are one node.

    Example:
        >>> print(draw_mermaid([Node("a", "x f32[3]"), Node("b", "tanh", ("a",))]))
        flowchart TD
          a["x f32[3]"]
          b["tanh"]
          a --> b
    """
    return "\n".join(["flowchart TD", *_lines([*nodes])])


def _lines(nodes: Sequence[Node]) -> Iterator[str]:
    hidden = nodes[_MAX_NODES // 2 : -_MAX_NODES // 2] if len(nodes) > _MAX_NODES else ()
    fold = dict.fromkeys((node.name for node in hidden), "more")
    arrows = []
    for number, node in enumerate(nodes):
        if node.name not in fold:
            yield f'  {node.name}["{_escaped(node.label)}"]'
        elif number == _MAX_NODES // 2:
            yield f'  more["{len(hidden):,} more operations"]'
        name = fold.get(node.name, node.name)
        arrows += [(fold.get(source, source), name) for source in node.takes]
    for source, name in dict.fromkeys(arrows):
        if source != name:
            yield f"  {source} --> {name}"


def _escaped(label: str) -> str:
    """Quotes end a label; the sign for them is Mermaid's own."""
    return label.replace('"', "#quot;").replace("<", "&lt;").replace(">", "&gt;")
