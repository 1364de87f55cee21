"""A graph as a drawing in Mermaid's language."""

import re

from ipyjaxbench.graphs import draw_mermaid
from ipyjaxbench.graphs.components import Node


def test_each_operation_is_a_box_with_arrows_from_what_it_takes() -> None:
    nodes = [Node("in0", "x f32[3]"), Node("n0", "tanh", ("in0",)), Node("out", "result", ("n0",))]
    assert draw_mermaid(nodes).splitlines() == [
        "flowchart TD", '  in0["x f32[3]"]', '  n0["tanh"]', '  out["result"]', "  in0 --> n0",
        "  n0 --> out",
    ]  # fmt: skip
    # Signs that end a label are spelled otherwise.
    assert '["p[#quot;w#quot;] &lt;f32&gt;"]' in draw_mermaid([Node("a", 'p["w"] <f32>')])


def test_a_long_chain_keeps_its_ends_and_every_arrow_has_two_boxes() -> None:
    chain = [Node(f"n{i}", f"op{i}", (f"n{i - 1}",) if i else ()) for i in range(500)]
    lines = draw_mermaid(chain).splitlines()
    assert len(lines) < 200
    boxes = {match[1] for line in lines if (match := re.match(r"  (\w+)\[", line))}
    arrows = [match.groups() for line in lines if (match := re.match(r"  (\w+) --> (\w+)", line))]
    assert {"n0", "n499", "more"} <= boxes
    assert '  more["420 more operations"]' in lines
    assert all(end in boxes for arrow in arrows for end in arrow)
    assert ("n39", "more") in arrows
    assert ("more", "n460") in arrows


def test_as_many_boxes_as_a_person_can_follow_are_drawn() -> None:
    for count, boxes, more in ((80, 80, []), (82, 81, ['more["2 more operations"]'])):
        lines = draw_mermaid([Node(f"n{i}", "op") for i in range(count)]).splitlines()
        shown = [line.strip() for line in lines[1:]]
        assert (len(shown), [box for box in shown if box.startswith("more")]) == (boxes, more)
