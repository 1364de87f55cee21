"""Which form of a program is asked for, and of which framework it can be."""

from typing import Any

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.graphs import GraphOptions


@pytest.mark.parametrize(
    ("framework", "first", "last"),
    [("jax", "jaxpr", "optimized"), ("torch", "aten", "export"), ("tensorflow", "tf", "optimized")],
)
def test_the_first_stage_is_shown_by_default(framework: str, first: str, last: str) -> None:
    assert GraphOptions().stage_of(framework) == first
    assert GraphOptions(stage=last).stage_of(framework) == last


ALL = "jaxpr, stablehlo, hlo, optimized, aten, dynamo, export, tf"
NEEDS = "--platform needs --stage stablehlo or --stage hlo"


@pytest.mark.parametrize(
    ("framework", "options", "told"),
    [
        ("torch", {"stage": "jaxpr"},
         "stage 'jaxpr': this is a torch program; its stages are aten, dynamo, export"),
        ("", {"stage": "llvm"}, f"stage 'llvm': must be one of {ALL}"),
        ("", {"platform": "tpu"}, NEEDS),
        ("", {"platform": "tpu", "stage": "jaxpr"}, NEEDS),
        ("", {"platform": "gpu"}, "platform 'gpu': must be one of cpu, cuda, rocm, tpu"),
        ("", {"shard": (("x", 0),)},
         "--shard needs --on with several chips, such as --on tpu:v5e:2x2"),
        *(("tensorflow", given, f"{flag} works for JAX only, and this is a tensorflow program")
          for flag, given in {
              "--platform": {"platform": "cpu", "stage": "stablehlo"}, "--check": {"check": True},
              "--on": {"on": ("tpu:v5e",)}, "--grad": {"grad": True}, "--np": {"numpy": True},
              "--vmap": {"numpy": True, "vmap": True},
          }.items()),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(
    framework: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(OptionError) as raised:
        GraphOptions(**options).stage_of(framework)
    assert str(raised.value) == told
    if framework == "tensorflow":
        assert GraphOptions(**options).stage_of("jax") in ("jaxpr", "stablehlo")


def test_details_are_what_is_said_beyond_the_program() -> None:
    assert GraphOptions().details == ()
    assert GraphOptions(check=True, src=True, stats=True).details == ("stats", "src", "check")
    assert GraphOptions(shard=(("x", 0),), on=("tpu:v5e:2x2",), src=True).details == ("src",)
    for stage in ("stablehlo", "hlo"):
        assert GraphOptions(platform="tpu", stage=stage).stage_of("jax") == stage
