"""`%fwtime` and `%%fwcompare` wait for each device, whether the result shows its work or not.

A test without a wait shows that the wait is what makes the figure right.
"""

from collections.abc import Callable
from typing import Any

import pytest

from ipyjaxbench.adapters.jax import Jax, synchronization
from tests.async_platform.conftest import by_hand
from tests.shell import Shell

#: What is timed, and the function that is to be waited for, by hand.
SHOWN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "long(x)": lambda n: n["long"](n["x"]),
    "long(xs[2])": lambda n: n["long"](n["xs"][2]),
    "{'a': long(xs[1]), 'b': 3}": lambda n: n["long"](n["xs"][1]),
    "[long(y) for y in xs]": lambda n: [n["long"](y) for y in n["xs"]],
    "np.asarray(long(x))": lambda n: n["long"](n["x"]),
    "float(long(xs[3])[0, 0])": lambda n: n["long"](n["xs"][3]),
    "with jax.default_device(d[1]): y = long(host)": lambda n: n["long"](n["xs"][1]),
    "long(jax.device_put(host, d[2]))": lambda n: n["long"](n["xs"][2]),
    "jax.device_put(long(xs[1]), cpu)": lambda n: n["long"](n["xs"][1]),
}
#: Work that goes on when the call has returned, on a device of which the result tells nothing.
HIDDEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "long(xs[2]); None": lambda n: n["long"](n["xs"][2]),
    "long(xs[1]); x": lambda n: n["long"](n["xs"][1]),
    "[long(y) for y in xs][0]": lambda n: [n["long"](y) for y in n["xs"]],
    "long(xs[3]).shape": lambda n: n["long"](n["xs"][3]),
}


def median(run: Shell, code: str, options: str = "-b 1") -> float:
    """Time code; return its median."""
    run.run(f"%fwtime -q {options} -v found {code}")
    return float(run.names.pop("found").median)


@pytest.mark.parametrize("code", [*SHOWN, *HIDDEN])
def test_all_that_a_call_starts_is_waited_for(code: str, run: Shell, names: dict[str, Any]) -> None:
    call = (SHOWN | HIDDEN)[code]
    before = by_hand(lambda: call(names))
    found = median(run, code)
    truth = min(before, by_hand(lambda: call(names)))
    assert found > 0.5 * truth


@pytest.mark.parametrize("code", ["long(x)", "long(xs[2])", "[long(y) for y in xs]"])
def test_without_the_wait_for_results_the_figure_is_wrong(
    code: str, run: Shell, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = by_hand(lambda: SHOWN[code](names))
    monkeypatch.setattr(synchronization, "_one_array", lambda value: value)
    monkeypatch.setattr(synchronization, "_pytree", lambda value: value)
    for name, answer in (("is_running", False), ("drain", None)):
        monkeypatch.setattr(Jax, name, lambda _, answer=answer: answer)
    assert median(run, code, "-n 1 -r 20") < 0.4 * truth


# What four devices do at once delays the one that is waited for, where they share CPUs.
@pytest.mark.parametrize("code", [code for code in HIDDEN if "for y" not in code])
def test_without_the_wait_for_devices_work_that_is_not_shown_is_missed(
    code: str, run: Shell, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = by_hand(lambda: HIDDEN[code](names))
    for name, answer in (("is_running", False), ("drain", None)):
        monkeypatch.setattr(Jax, name, lambda _, answer=answer: answer)
    assert median(run, code, "-n 1 -r 20") < 0.4 * truth


def test_work_that_the_result_does_not_show_is_said(run: Shell) -> None:
    run.run("%fwtime -b 1 -v found long(xs[2]); None")
    codes = [note.code for note in run.names["found"].notes]
    assert {"elsewhere", "unsynchronised"} <= set(codes)


def test_work_from_before_is_not_counted(run: Shell) -> None:
    run.run("later = [long(y) for y in xs for _ in range(3)]")
    run.run("%fwtime -b 0.5 -v found jnp.sum(x)")
    assert "work still running from earlier cells" in " ".join(
        run.shown[-1].data["text/plain"].split()
    )
    assert run.names["found"].median < by_hand(lambda: run.names["long"](run.names["x"]))


def test_arms_on_two_devices_are_compared_by_their_work(run: Shell) -> None:
    run.run(
        "%%fwcompare -q -b 4 -v found\none: long(xs[1])\ntwo:\n    y = long(xs[2])\n    long(y)"
    )
    found = run.names["found"]
    assert 1.4 < found.ratio("two").value < 2.8
