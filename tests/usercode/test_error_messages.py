"""Errors of the user's code in one line."""

import pytest

from ipyjaxbench.usercode.error_messages import describe_error, message_of, shorten_message

ON_GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
OOM = "OOM when allocating tensor with shape[1048576,4194304] and type float on"
#: As TensorFlow 2.16 to 2.21 writes it; on a CPU it is the same but for the device.
EAGER = f"{{{{function_node __wrapped__Fill_device_{ON_GPU}}}}} {OOM} {ON_GPU} [Op:Fill] name: "
GRAPH = f"""Graph execution error:

Detected at node zeros defined at (most recent call last):
  File "step.py", line 8, in <module>

  File "step.py", line 5, in step

{OOM} {ON_GPU} by allocator GPU_0_bfc
\t [[{{{{node zeros}}}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add more.
 [Op:__inference_step_8]"""
BOTH = GRAPH.replace("\nOOM", "\n2 root error(s) found.\n  (0) RESOURCE_EXHAUSTED: OOM")


class Mute(Exception):
    """Cannot say anything."""

    def __str__(self) -> str:
        raise RuntimeError("no")


LONG = "x" * 30  # as long as a line that says enough alone


@pytest.mark.parametrize(("message", "shown"), [
    (f"{LONG}\nmore", LONG),
    (f"{LONG[1:]}\nmore\nand more", f"{LONG[1:]} more"),
    (f"{LONG}:\n  more\nand more", f"{LONG}: more"),
    (f"{LONG};\nmore", f"{LONG}; more"),
    (f"short\n* {LONG}\nand more", f"short {LONG}"),
    ("", ""),
    (EAGER, f"{OOM} GPU:0"),
    (GRAPH, f"{OOM} GPU:0 by allocator GPU_0_bfc"),
    (f"{'a' * 109} {'b' * 110}", f"{'a' * 109} {'b' * 110}"),
    (f"{'a' * 109} {'b' * 111}", f"{'a' * 109} …"),
])  # fmt: skip
def test_a_message_is_its_first_lines_that_say_enough(message: str, shown: str) -> None:
    assert shorten_message(ValueError(message)) == shown


@pytest.mark.parametrize(("error", "shown"), [
    (ValueError("wrong.\nbecause"), "ValueError: wrong"),
    (ValueError(), "ValueError"),
    (KeyError("k"), "KeyError: 'k'"),
    (MemoryError(EAGER), f"MemoryError: {OOM} GPU:0"),
    (MemoryError(GRAPH), f"MemoryError: {OOM} GPU:0 by allocator GPU_0_bfc"),
    (MemoryError(BOTH), f"MemoryError: RESOURCE_EXHAUSTED: {OOM} GPU:0 by allocator GPU_0_bfc"),
    (ValueError("Graph execution error:"), "ValueError: Graph execution error"),
    (Mute(), "Mute"),
    (ValueError(f"{'a' * 60} {'b' * 67}"), f"ValueError: {'a' * 60} {'b' * 67}"),
    (ValueError(f"{'a' * 60} {'b' * 68}"), f"ValueError: {'a' * 60} …"),
])  # fmt: skip
def test_an_error_is_its_class_and_its_first_line(error: Exception, shown: str) -> None:
    assert describe_error(error) == shown
    assert message_of(ValueError("one\ntwo")) == "one\ntwo"  # it is kept whole
    assert message_of(Mute()) == ""
