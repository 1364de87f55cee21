"""Texts of XLA's stages without what they say of this machine."""

from ipyjaxbench.adapters.shared.hlo import readable

HLO = """\
HloModule jit_f

FileNames
1 "/home/me/a.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY %main (x: f32[3]) -> f32[3] {
  ROOT %add = f32[3]{0} add(%x, %x), metadata={op_type="add" source={line=3} more}, backend={0}
}

"""
HLO_READABLE = """\
HloModule jit_f
ENTRY %main (x: f32[3]) -> f32[3] {
  ROOT %add = f32[3]{0} add(%x, %x), backend={0}
}"""

STABLE = """\
#loc1 = loc("x")
module @jit_f {
  func.func @main(%arg0: tensor<3xf32> loc("x)(")) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32> loc(fused[callsite("a"("b":1:2)), "c"])
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/home/me/a.py":3:4)
"""
STABLE_READABLE = """\
module @jit_f {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
  }
}"""


def test_files_frames_and_places_are_left_out() -> None:
    assert readable(HLO) == HLO_READABLE
    assert readable(STABLE) == STABLE_READABLE
