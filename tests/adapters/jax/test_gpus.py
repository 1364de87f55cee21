"""GPUs that this machine does not have: names, peaks, own descriptions, and what is launched."""

from pathlib import Path

import pytest

from ipyjaxbench import OptionError
from ipyjaxbench.adapters.jax.chips.find_chips import find_chips
from ipyjaxbench.adapters.jax.chips.gpu_kernels import Launch, kernels_in
from ipyjaxbench.adapters.jax.chips.gpus import CHIPS
from ipyjaxbench.adapters.jax.chips.roofline import FULL_FLOAT32, Roof
from ipyjaxbench.device import find_datasheet

OWN = """
gpu_device_info {
  core_count: 10
  fpus_per_core: 128
  clock_rate_ghz: 2
  memory_bandwidth: 1e12
  device_memory_size: 1000000000
  matrix_unit_description {
    rate_infos { key: 16 value { clock_rate_ghz: 1.5 units_per_core: 4 ops_per_clock: 512 } }
  }
}
"""


@pytest.mark.parametrize("chip", CHIPS)
def test_peaks_are_those_of_the_datasheet(chip: str) -> None:
    found, sheet = find_chips(f"gpu:{chip}").roof, find_datasheet(CHIPS[chip].name)
    assert found is not None
    assert sheet is not None
    # XLA's clocks of B200 and GB200 are 1 to 4 % below what the datasheets count with.
    for own, stated in ((found.products["bfloat16"], sheet.products["bfloat16"]),
                        (found.products["float32"], sheet.products["tf32"]),
                        (found.products["float64"], sheet.products["float64"]),
                        (found.products[FULL_FLOAT32], sheet.products["float32"]),
                        (found.products["int8"], sheet.products["int8"]),
                        (found.bandwidth, sheet.bandwidth)):  # fmt: skip
        assert own == pytest.approx(stated, rel=0.05)


def test_a_number_behind_the_name_is_that_of_gpus() -> None:
    for name, devices in ("gpu:h100x4", 4), ("gpu:rtx6000pro", 1), ("gpu:rtx6000prox2", 2):
        found = find_chips(name)
        assert (found.devices, found.platform) == (devices, "cuda")
        assert found.arguments["topology"] == f"1x1x{devices}"


@pytest.mark.parametrize(("name", "told"), [
    ("gpu:h10", "there is no such GPU. Did you mean gpu:h100? Known are gpu:a100, "),
    ("gpu:tpu", "there is no such GPU. Known are gpu:a100, "),
    ("gpu:h100x0", "must be 1 GPU or more, such as gpu:h100x4"),
    ("gpu:mi300", "XLA's compiler for AMD's GPUs is in no wheel that works without ROCm"),
    ("gpu:none.txtpb", "none.txtpb cannot be read: No such file or directory"),
    ("gpu:~nobody-here/own.txtpb", "~nobody-here/own.txtpb cannot be read: Could not determine"),
])  # fmt: skip
def test_what_is_no_gpu_is_told_in_one_line(name: str, told: str) -> None:
    with pytest.raises(OptionError) as raised:
        find_chips(name)
    assert str(raised.value).startswith(f"--on {name}: {told}")


def test_a_description_of_ones_own_has_peaks_of_which_the_slower_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.txtpb").write_text(OWN)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert find_chips("gpu:~/own.txtpb").memory == 10**9
    found = find_chips(f"gpu:{tmp_path}/own.txtpb")
    assert found.memory == 10**9
    assert found.arguments["target_config"] == OWN
    assert found.roof == Roof({"bfloat16": 10 * 4 * 512 * 1.5e9 * 2, FULL_FLOAT32: 5.12e12}, 1e12)
    roof = Roof({"bfloat16": 1e12}, 1e9)
    assert roof.seconds({"bfloat16": 2e12}, 1e9) == 2.0
    assert roof.seconds({"bfloat16": 2e12}, 3e9) == 3.0
    assert roof.seconds({"int4": 2e12}, 1e9) == 1.0  # of no known peak


def test_a_file_that_describes_no_gpu_is_told(tmp_path: Path) -> None:
    for content, told in (
        (b"no", "describes no GPU: it has no device_memory_size and no memory_bandwidth"),
        (b"\xff\xfe", "cannot be read: it is no text"), (b" " * 1_000_001, "is larger than 1 MB"),
    ):  # fmt: skip
        (tmp_path / "own.txtpb").write_bytes(content)
        with pytest.raises(OptionError, match=told):
            find_chips(f"gpu:{tmp_path}/own.txtpb")


PRODUCT = """
%gemm (p.1: f32[64,32], p.2: f32[32,16]) -> f32[64,16] {
  %p.1 = f32[64,32]{1,0} parameter(0)
  %p.2 = f32[32,16]{1,0} parameter(1)
  %dot = f32[64,16]{1,0} dot(%p.1, %p.2), lhs_contracting_dims={1}, rhs_contracting_dims={0}HOW, metadata={op_name="jit(f)/dot_general"}
  ROOT %tanh = f32[64,16]{1,0} tanh(%dot), metadata={op_name="jit(f)/tanh"}
}
"""  # noqa: E501
ENTRY = """
ENTRY %main (a: f32[64,32], b: f32[32,16]) -> f32[64,16] {
  %a = f32[64,32]{1,0} parameter(0)
  %b = f32[32,16]{1,0} parameter(1)
  ROOT %gemm_fusion = f32[64,16]{1,0} fusion(%a, %b), kind=kCustom, calls=%gemm
}
"""
LOOP = """
%body (state: (s32[], f32[8])) -> (s32[], f32[8]) {
  %state = (s32[], f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%state), index=1
  %copy.1 = f32[8]{0} copy(%x)
  ROOT %tuple = (s32[], f32[8]{0}) tuple(%state, %copy.1)
}

%condition (state.1: (s32[], f32[8])) -> pred[] {
  %state.1 = (s32[], f32[8]{0}) parameter(0)
  ROOT %less = pred[] compare(%state.1, %state.1), direction=LT
}

ENTRY %main (x.1: f32[8]) -> (s32[], f32[8]) {
  %x.1 = f32[8]{0} parameter(0)
  %tuple.1 = (s32[], f32[8]{0}) tuple(%x.1, %x.1)
  ROOT %while = (s32[], f32[8]{0}) while(%tuple.1), condition=%condition, body=%bodyTURNS
}
"""
SLICE = """
%sliced (p: f32[100,8], i: s32[]) -> f32[1,8] {
  %p = f32[100,8]{1,0} parameter(0)
  %i = s32[] parameter(1)
  ROOT %slice = f32[1,8]{1,0} dynamic-slice(%p, %i, %i), dynamic_slice_sizes={1,8}
}

%updated (whole: f32[100,8], part: f32[1,8], j: s32[]) -> f32[100,8] {
  %whole = f32[100,8]{1,0} parameter(0)
  %part = f32[1,8]{1,0} parameter(1)
  %j = s32[] parameter(2)
  ROOT %update = f32[100,8]{1,0} dynamic-update-slice(%whole, %part, %j, %j)
}

ENTRY %main (x: f32[100,8], k: s32[]) -> f32[100,8] {
  %x = f32[100,8]{1,0} parameter(0)
  %k = s32[] parameter(1)
  %row = f32[1,8]{1,0} fusion(%x, %k), kind=kLoop, calls=%sliced
  ROOT %out = f32[100,8]{1,0} fusion(%x, %row, %k), kind=kLoop, calls=%updated
}
"""
LIBRARIES = """
ENTRY %main (x: f32[8,64,64,4], w: f32[16,3,3,4], a: bf16[64,32], b: bf16[32,16]) -> f32[] {
  %x = f32[8,64,64,4]{3,2,1,0} parameter(0)
  %w = f32[16,3,3,4]{3,2,1,0} parameter(1)
  %conv = (f32[8,64,64,16]{3,2,1,0}, u8[0]{0}) custom-call(%x, %w), window={size=3x3}, dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convForward"
  %a = bf16[64,32]{1,0} parameter(2)
  %b = bf16[32,16]{1,0} parameter(3)
  %gemm = (bf16[64,16]{1,0}, s8[4194304]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}
  %sum = f32[] all-reduce(%s), replica_groups={}
  ROOT %start = f32[] all-reduce-start(%sum)
}
"""  # noqa: E501


def test_a_product_in_a_fusion_counts_by_what_it_multiplies() -> None:
    highest, nbytes = ", operand_precision={highest,highest}", 4 * (64 * 32 + 32 * 16 + 64 * 16)
    for how, dtype in ("", "float32"), (highest, FULL_FLOAT32):
        (found,), unknown = kernels_in(PRODUCT.replace("HOW", how) + ENTRY)
        flops = {dtype: 2.0 * 64 * 32 * 16}
        assert found == Launch("gemm_fusion", ("tanh", "dot_general"), "", 1, flops, nbytes)
        assert not unknown


def test_what_is_in_a_loop_runs_as_often_as_it_turns() -> None:
    known = ', backend_config={"known_trip_count":{"n":"12"}}'
    for turns, times, unknown in (known, 12, False), ("", 1, True):
        (found,), is_unknown = kernels_in(LOOP.replace("TURNS", turns))
        assert (found.name, found.times, found.nbytes, is_unknown) == ("copy.1", times, 64, unknown)


def test_of_parts_and_library_calls_what_they_move_and_multiply_counts() -> None:
    (row, out), _ = kernels_in(SLICE)
    assert row.nbytes == 32 + 4 + 32
    assert out.nbytes == 32 + 4 + 32  # in place: the part that is read, and written
    (conv, gemm), _ = kernels_in(LIBRARIES)
    assert (conv.library, conv.flops) == (
        "__cudnn$convForward", {"float32": 2.0 * 8 * 64 * 64 * 16 * 3 * 3 * 4},
    )  # fmt: skip
    assert (gemm.library, gemm.flops) == ("__cublas$gemm", {"bfloat16": 2.0 * 64 * 32 * 16})
    assert kernels_in("") == ((), False)
