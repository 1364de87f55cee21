"""What devices exchange is read from XLA's text, held against sizes that were counted by hand."""

import pytest

from ipyjaxbench.graphs.compiled import Collective
from ipyjaxbench.graphs.hlo_collectives import collectives_in, exchanges_in

SUM = "f32[4096,4096]{1,0:T(8,128)}"
#: They run beside others: what is done has what comes out, and not what went in.
BESIDE = """
  %s = (f32[1,4096]{1,0}, f32[1,4096]{1,0}, u32[]{:S(2)}) collective-permute-start(%a), channel_id=1
  %d = f32[1,4096]{1,0:T(1,128)S(1)} collective-permute-done(%s), metadata={op_name="x"}
  %gs = (f32[256]{0}, f32[1024]{0}) all-gather-start(%b), channel_id=2
  %gd = f32[1024]{0} all-gather-done(%gs)
"""
STEP = "  %g = f32[4,1,256]{2,1,0} all-gather(%p), channel_id=1, replica_groups={{0,1}}\n"
#: Of the first sum each device keeps a piece.
PIECE = """
%all-reduce-scatter.clone.1 (input.2: f32[1024,1024]) -> f32[1024,256] {
  %all-reduce.4 = f32[1024,1024]{1,0} all-reduce(%input.2), channel_id=2, to_apply=%add
  ROOT %dynamic-slice.5 = f32[1024,256]{1,0:T(8,128)S(1)} dynamic-slice(%all-reduce.4, %c)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  ROOT %all-reduce.5 = f32[8]{0} all-reduce(%x), channel_id=3
}
"""


@pytest.mark.parametrize(
    ("hlo", "expected"),
    [
        (f"  ROOT %r = {SUM} all-reduce(%fusion), channel_id=1, to_apply=%add",
         [("all-reduce", 1, 4 * 4096 * 4096)]),
        ("  %r = (f32[1024,1024]{1,0:T(8,128)}, f32[1024]{0:T(1024)S(1)}) all-reduce(%a, %b)",
         [("all-reduce", 1, 4 * 1024 * 1024 + 4 * 1024)]),
        ("  %g = bf16[4096,4096]{1,0:T(8,128)(2,1)S(1)} all-gather(%convert), channel_id=2",
         [("all-gather", 1, 2 * 4096 * 4096)]),
        ("  %p = pred[8]{0} all-gather(%q)\n  %s = s32[1024,4,128]{0,2,1} all-to-all(%b)",
         [("all-to-all", 1, 4 * 1024 * 4 * 128), ("all-gather", 1, 8)]),
        ("  %f = f32[] fusion(%copy-done, %all-gather.6), calls=%all-reduce.3", []),
        (BESIDE, [("collective-permute", 1, 4 * 4096), ("all-gather", 1, 4 * 1024)]),
        (STEP * 3 + STEP.replace("channel_id=1", "channel_id=2"), [("all-gather", 2, 8192)]),
        (PIECE, [("reduce-scatter", 1, 4 * 1024 * 256), ("all-reduce", 1, 32)]),
    ],
)  # fmt: skip
def test_each_kind_has_the_bytes_that_it_gives(
    hlo: str, expected: list[tuple[str, int, int]]
) -> None:
    assert collectives_in(hlo) == tuple(Collective(*each) for each in expected)


@pytest.mark.parametrize(
    ("hlo", "expected"),
    [
        ("  ROOT %all-reduce = f32[8]{0} all-reduce(%p), replica_groups={{0,1,2,3}}, to_apply=%a",
         {"all-reduce": ("all-reduce", 32, 4)}),
        ("  %r.2 = (f32[8]{0:T(128)}, bf16[4]{0}) all-reduce(%p, %q), replica_groups=[2,2]<=[4]",
         {"r.2": ("all-reduce", 40, 2)}),
        ("  %g = f32[96,96]{0,1} all-gather(%b), replica_groups=mesh['a'=2,'b'=2] {'a','b'}, x=1",
         {"g": ("all-gather", 4 * 96 * 96, 4)}),
        ("  %g = f32[96]{0} all-gather(%b), replica_groups=mesh['a'=1,'b'=2] {'b'}, x={1}",
         {"g": ("all-gather", 4 * 96, 2)}),
        ("  %r = f32[8]{0} all-reduce(%b), replica_groups=mesh['a'=2,'b'=2] {'a','c'}, x=1",
         {"r": ("all-reduce", 32, 0)}),
        ("  %s = f32[8]{0} reduce-scatter(%b), replica_groups={{0,1},{2,3}}, dimensions={0}",
         {"s": ("reduce-scatter", 64, 2)}),
        ("  %s = f32[8]{0} reduce-scatter(%b), replica_groups=new style", {}),
        ("  %r = f32[8]{0} all-reduce(%b), replica_groups={}", {"r": ("all-reduce", 32, 4)}),
        ("  %r = f32[8]{0} all-reduce(%b), replica_groups=new style", {"r": ("all-reduce", 32, 0)}),
        (("  %all-gather-start.1 = (f32[4]{0}, f32[8]{0}) all-gather-start(%p),"
         " replica_groups={{0,1}}\n"
         "  %all-gather-done.1 = f32[8]{0} all-gather-done(%all-gather-start.1)"),
         {"all-gather-start.1": ("all-gather", 32, 2)}),
        ("  %b = f32[8]{0} collective-broadcast(%p), replica_groups={{0,1,2,3}}",
         {"b": ("broadcast", 32, 4)}),
    ],
)  # fmt: skip
def test_each_operation_has_the_bytes_that_nccl_tests_counts(
    hlo: str, expected: dict[str, tuple[str, int, int]]
) -> None:
    assert exchanges_in(hlo, 4) == expected
