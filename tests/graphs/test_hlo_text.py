"""What an optimized program consists of, by its text, and what two texts have in common."""

import pytest

from ipyjaxbench.graphs.hlo_text import count_program, instructions, renumbered, without_numbers
from ipyjaxbench.graphs.program_changes import IDENTICAL, compare_counts, compare_hlo, diff_hlo

PROGRAM = """\
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}
%region_0.1 (a.1: f32[], b.2: f32[]) -> f32[] {
  %a.1 = f32[] parameter(0)
  %b.2 = f32[] parameter(1)
  ROOT %add.3 = f32[] add(%a.1, %b.2)
}
%fused_computation.7 (param_0.3: f32[8,4]) -> f32[8,4] {
  %param_0.3 = f32[8,4]{1,0} parameter(0)
  %sine.4 = f32[8,4]{1,0} sine(%param_0.3)
  ROOT %tanh.5 = f32[8,4]{1,0} tanh(%sine.4)
}
ENTRY %main.9 (x.1: f32[8,4]) -> f32[8,4] {
  %x.1 = f32[8,4]{1,0} parameter(0)
  %loop_fusion.2 = f32[8,4]{1,0} fusion(%x.1), kind=kLoop, calls=%fused_computation.7
  %r.5 = f32[8,4]{1,0} all-reduce(%loop_fusion.2), channel_id=41, replica_groups={}, \
to_apply=%region_0.1
  %c.6 = (f32[8,4]{1,0}, (s8[16]{0}, pred[])) custom-call(%r.5), custom_call_target="__cublas$gemm"
  ROOT %t.7 = f32[8,4]{1,0} get-tuple-element(%c.6), index=0
}"""
#: The same, as another process numbers it, and with other names for what goes in.
TWIN = PROGRAM
for old, new in (
    ("region_0.1", "region_3.99"), ("fused_computation.7", "fused_computation.12.clone"),
    ("param_0.3", "param_0.35"), ("%x.1", "%weights"), ("x.1:", "weights:"),
    ("channel_id=41", "channel_id=7"), ("loop_fusion.2", "loop_fusion"), ("jit_f", "jit_step"),
    ("sine.4", "sine.44"),
):  # fmt: skip
    TWIN = TWIN.replace(old, new)


def test_everything_is_counted_once() -> None:
    once = ("add", "sine", "tanh", "fusion", "all-reduce", "custom-call", "get-tuple-element")
    assert count_program(PROGRAM) == {
        ("collective", "all-reduce"): 1,
        ("bytes", "all-reduce"): 128,
        ("fusion", "loop"): 1,
        ("call of", "__cublas$gemm"): 1,
        ("opcode", "parameter"): 4,
        **{("opcode", name): 1 for name in once},
        ("bytes", "written"): 128 + 128 + (128 + 16 + 1),
    }
    (call,) = (each for each in instructions(PROGRAM) if each.opcode == "custom-call")
    assert call.gives == "(f32[8,4]{1,0}, (s8[16]{0}, pred[]))"  # the type of a tuple as a whole
    assert call.computation == "main.9"


def test_a_program_that_is_numbered_otherwise_is_the_same() -> None:
    assert PROGRAM != TWIN
    assert compare_hlo(PROGRAM, TWIN) == ()
    assert diff_hlo(PROGRAM, TWIN, ("a", "b")) == IDENTICAL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sine(%param_0.3)", "cosine(%param_0.3)"), ("f32[8,4]{1,0} tanh", "f32[8,4]{0,1} tanh"),
        ("add(%a.1, %b.2)", "add(%a.1, %a.1)"), ("replica_groups={}", "replica_groups={{0,1}}"),
        ("__cublas$gemm", "__cublas$lt$matmul"), ("kind=kLoop", "kind=kInput"),
    ],
)  # fmt: skip
def test_what_differs_is_never_called_identical(old: str, new: str) -> None:
    assert old in PROGRAM
    diff = diff_hlo(PROGRAM, PROGRAM.replace(old, new), ("a", "b"))
    assert diff.startswith("--- a\n+++ b\n")
    assert any(line.startswith("+ ") for line in diff.splitlines())


def test_an_instruction_more_moves_no_line_of_others() -> None:
    more = PROGRAM.replace(
        "  ROOT %tanh.5 = f32[8,4]{1,0} tanh(%sine.4)",
        "  %sine.5 = f32[8,4]{1,0} sine(%sine.4)\n  ROOT %tanh.6 = f32[8,4]{1,0} tanh(%sine.5)",
    )
    changed = [line for line in diff_hlo(PROGRAM, more, ("a", "b")).splitlines()[2:]
               if line[0] in "+-"]  # fmt: skip
    assert changed == ["+  %sine = f32[8,4]{1,0} sine(%sine)"]


def test_numbers_of_large_constants_are_not_promised_to_be_the_same() -> None:
    text = PROGRAM.replace("tanh(%sine.4)", "constant({...})")
    assert diff_hlo(text, text, ("a", "b")) == (
        "the programs are identical, but for numbers of large constants, which the text leaves out"
    )


def test_changes_stand_in_the_order_in_which_they_matter() -> None:
    before = {("opcode", "a"): 1, ("opcode", "b"): 9, ("bytes", "written"): 5,
              ("fusion", "loop"): 1, ("bytes", "all-reduce"): 1}  # fmt: skip
    now = {("collective", "all-reduce"): 1, ("opcode", "a"): 3, ("opcode", "b"): 8,
           ("call of", "__cublas$gemm"): 1}  # fmt: skip
    assert [(c.label, c.before, c.now) for c in compare_counts(before, now)] == [
        ("all-reduce", 0, 1), ("loop fusion", 1, 0), ("call of __cublas$gemm", 0, 1), ("a", 1, 3),
        ("b", 9, 8), ("bytes written", 5, 0), ("bytes of all-reduce", 1, 0),
    ]  # fmt: skip


def test_a_text_that_is_none_has_no_counts() -> None:
    texts = ["", "no program", "HloModule x", "ENTRY %m () -> f32[] {\n}"]
    assert [*map(count_program, texts)] == [{}] * 4
    assert [*map(renumbered, texts)] == [*texts[:2], "HloModule", texts[3].replace("m", "1")]
    assert [*map(without_numbers, texts)] == [*texts[:2], "HloModule", texts[3]]
