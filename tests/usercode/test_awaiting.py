"""Plain code can have a coroutine finished by the event loop that runs already."""

import asyncio
import contextvars
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.awaiting import finish, loop_runs, run_in_loop, run_in_new_loop

COLOUR = contextvars.ContextVar("colour", default="none")


async def later(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def failing() -> None:
    await asyncio.sleep(0)
    raise KeyError("k")


def twice(first: int) -> list[int]:
    return [finish(later(first)), finish(later(first + 1))]


def test_plain_code_sees_what_a_coroutine_raises_and_may_go_on() -> None:
    def careful() -> str:
        with pytest.raises(KeyError) as raised:
            finish(failing())
        return f"{raised.traceback[-1].name} went on"

    assert asyncio.run(run_in_loop(careful)) == "failing went on"


def test_it_sees_and_sets_the_context_of_its_task() -> None:
    def change() -> str:
        seen = COLOUR.get()
        COLOUR.set("green")
        return seen

    async def task() -> tuple[str, str]:
        COLOUR.set("red")
        return await run_in_loop(change), COLOUR.get()

    assert asyncio.run(task()) == ("red", "green")


def test_without_a_loop_it_gets_one_for_all_that_it_awaits_and_errors_are_its_own() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        assert loop_runs()
        return asyncio.get_running_loop()

    def fail() -> None:
        raise ValueError("mine")

    assert not loop_runs()
    first, second = run_in_new_loop(lambda: (finish(loop()), finish(loop())))
    assert first is second
    with pytest.raises(ValueError, match="mine") as caught:
        run_in_new_loop(fail)
    assert caught.value.__context__ is None
    with ThreadPoolExecutor(1) as pool:  # another thread than the main one awaits too
        assert pool.submit(run_in_new_loop, twice, 3).result() == [3, 4]


def test_where_nobody_can_await_it_is_said_before_anything_runs() -> None:
    ran: list[int] = []

    async def task() -> None:
        run_in_new_loop(ran.append, 1)

    with pytest.raises(SnippetError, match="await works only in a cell"):
        asyncio.run(task())
    assert ran == []
    with pytest.raises(SnippetError, match="it does not work in other functions"):
        finish(later(1))  # a coroutine left open would warn, and warnings are errors


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


async def interrupted_while_it_waits() -> None:
    asyncio.get_running_loop().call_later(0.01, interrupt)
    await asyncio.sleep(60)


async def interrupted_while_it_computes() -> None:
    await asyncio.sleep(0)
    interrupt()
    await asyncio.sleep(60)


async def interrupted_in_a_task_of_its_own() -> None:
    async def child() -> None:
        interrupt()
        pytest.fail("the task was not ended")

    await asyncio.create_task(child())


async def interrupted_twice() -> None:
    asyncio.get_running_loop().call_later(0.01, lambda: (interrupt(), interrupt()))
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    "work",
    [interrupted_while_it_waits, interrupted_while_it_computes, interrupted_in_a_task_of_its_own,
     interrupted_twice],
)  # fmt: skip
def test_an_interrupt_reaches_the_plain_code_which_may_keep_what_it_has(work) -> None:
    def careful() -> str:
        with pytest.raises(KeyboardInterrupt):
            finish(work())
        return f"kept {finish(later(1))}"

    async def task() -> tuple[str, int]:
        kept = await run_in_loop(careful)
        return kept, asyncio.current_task().cancelling()

    before = signal.getsignal(signal.SIGINT)
    assert asyncio.run(task()) == ("kept 1", 0)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_task_that_is_cancelled_is_cancelled() -> None:
    async def task() -> None:
        async with asyncio.timeout(0.01):
            await run_in_loop(lambda: finish(asyncio.sleep(60)))

    with pytest.raises(TimeoutError):
        asyncio.run(task())


def test_an_interrupt_that_comes_too_late_is_for_the_code_behind_it() -> None:
    async def soon() -> int:
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        loop.call_soon(lambda: (done.set_result(1), interrupt()))
        return await done

    async def task() -> None:
        seen.append(await run_in_loop(lambda: finish(soon())))
        await asyncio.sleep(60)

    seen: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(task())
    assert seen == [1]


def test_an_interrupt_of_the_plain_code_itself_is_raised_where_it_stands() -> None:
    def careful() -> str:
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        return f"kept {finish(later(1))}"

    assert asyncio.run(run_in_loop(careful)) == "kept 1"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # where they are ignored they still are
    try:
        assert asyncio.run(run_in_loop(lambda: (interrupt(), finish(later(1)))[1])) == 1
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def interrupts() -> Iterator[list[int]]:
    """What comes to the user's own handler of interrupts."""
    numbers: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: numbers.append(number))
    yield numbers
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_of_a_task_beside_a_measurement_is_the_users(interrupts: list[int]) -> None:
    async def task() -> list[int]:
        begun = asyncio.Event()

        async def beside() -> None:
            await begun.wait()
            interrupt()

        async def waits() -> int:
            begun.set()
            await other
            return 1

        other = asyncio.create_task(beside())
        return await run_in_loop(lambda: [finish(waits()), finish(later(2))])

    assert asyncio.run(task()) == [1, 2]
    assert interrupts == [signal.SIGINT]


def test_a_handler_that_the_code_sets_stays(interrupts: list[int]) -> None:
    own: list[int] = []

    def work() -> None:
        signal.signal(signal.SIGINT, lambda number, _: own.append(number))

    asyncio.run(run_in_loop(work))
    interrupt()
    assert (interrupts, own) == ([], [signal.SIGINT])
