"""Code that does something outside of the process is known by the names that it uses."""

import pytest

from ipyjaxbench.usercode.side_effects import SIDE_EFFECT_NAMES, has_side_effects


@pytest.mark.parametrize(("text", "acts"), [
    ("open('f')", True),
    ("x.write_text('a')", True),
    ("def f():\n    return lambda: time.sleep(1)", True),
    ("jnp.log(x)", False),
    ("f(x).mean()", False),
    ("'open'", False),
])  # fmt: skip
def test_a_name_of_what_acts_is_seen_also_in_functions(text: str, acts: bool) -> None:
    codes = [compile("1", "", "exec"), compile(text, "", "exec")]
    assert has_side_effects(codes) is acts
    assert has_side_effects([]) is False


def test_names_of_functions_of_arrays_count_where_it_is_said() -> None:
    assert has_side_effects([compile("run.log(x)", "", "exec")], SIDE_EFFECT_NAMES)
