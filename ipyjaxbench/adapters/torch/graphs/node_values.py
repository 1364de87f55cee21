"""What the nodes of an FX graph give."""

import operator
from typing import Any


def result_of(module: Any, node: Any) -> Any:
    """Return what a node gives, or what the graph holds for it; dynamo leaves some of it out."""
    known = node.meta.get("val", node.meta.get("example_value"))
    if node.op != "get_attr":
        return known
    try:
        return operator.attrgetter(node.target)(module)
    except AttributeError:
        return known
