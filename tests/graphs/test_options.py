"""Which form of a program is asked for, and of which framework it can be."""

from typing import Any

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.graphs import GraphOptions


def refusal(framework: str = "", **options: Any) -> str:
    with pytest.raises(OptionError) as raised:
        GraphOptions(**options).stage_of(framework)
    return str(raised.value)


@pytest.mark.parametrize(
    ("framework", "first", "last"),
    [("jax", "jaxpr", "optimized"), ("torch", "aten", "export"), ("tensorflow", "tf", "optimized")],
)
def test_the_first_stage_is_shown_by_default(framework: str, first: str, last: str) -> None:
    assert GraphOptions().stage_of(framework) == first
    assert GraphOptions(stage=last).stage_of(framework) == last


def test_a_stage_of_another_framework_is_refused() -> None:
    assert refusal("torch", stage="jaxpr") == (
        "stage 'jaxpr': this is a torch program; its stages are aten, dynamo, export"
    )
    assert refusal(stage="llvm") == (
        "stage 'llvm': must be one of jaxpr, stablehlo, hlo, optimized, aten, dynamo, export, tf"
    )


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"platform": "cpu", "stage": "stablehlo"}, "--platform"), ({"check": True}, "--check"),
        ({"on": ("tpu:v5e",)}, "--on"), ({"grad": True}, "--grad"), ({"vmap": True}, "--vmap"),
        ({"numpy": True, "vmap": True}, "--vmap"), ({"numpy": True}, "--np"),
    ],
)  # fmt: skip
def test_what_goes_with_jax_alone_is_refused_elsewhere(options: dict[str, Any], flag: str) -> None:
    assert refusal("tensorflow", **options) == (
        f"{flag} works for JAX only, and this is a tensorflow program"
    )
    assert GraphOptions(**options).stage_of("jax") in ("jaxpr", "stablehlo")


def test_a_platform_goes_with_a_stage_that_is_lowered_for_it() -> None:
    words = "--platform needs --stage stablehlo or --stage hlo"
    assert refusal(platform="tpu") == refusal(platform="tpu", stage="jaxpr") == words
    assert refusal(platform="gpu") == "platform 'gpu': must be one of cpu, cuda, rocm, tpu"
    for stage in ("stablehlo", "hlo"):
        assert GraphOptions(platform="tpu", stage=stage).stage_of("jax") == stage


def test_cutting_goes_with_chips() -> None:
    words = "--shard needs --on with several chips, such as --on tpu:v5e:2x2"
    assert refusal(shard=(("x", 0),)) == words
    assert GraphOptions(shard=(("x", 0),), on=("tpu:v5e:2x2",)).on == ("tpu:v5e:2x2",)


def test_details_are_what_is_said_beyond_the_program() -> None:
    assert GraphOptions().details == ()
    assert GraphOptions(check=True, src=True, stats=True).details == ("stats", "src", "check")
    assert GraphOptions(src=True).details == ("src",)
