"""One measurement at a time on an event loop; those that it measures exclude each other."""

import asyncio
import threading

import pytest

from ipyjaxbench.usercode.exclusive_section import ExclusiveSection


class Log(list[str]):
    """What happened, in order."""

    async def measure(self, name: str) -> None:
        async with ExclusiveSection():
            self.append(f"{name} begins")
            for _ in range(3):
                await asyncio.sleep(0)
            self.append(f"{name} ends")


def test_measurements_inside_of_one_do_not_wait_for_it_and_exclude_each_other() -> None:
    log = Log()

    async def outer() -> None:
        with pytest.raises(KeyError):
            async with ExclusiveSection():
                raise KeyError  # it leaves the loop to the next one
        async with asyncio.timeout(5), ExclusiveSection():
            await asyncio.gather(log.measure("a"), log.measure("b"))

    asyncio.run(outer())
    assert log == ["a begins", "a ends", "b begins", "b ends"]


def test_what_no_task_runs_is_not_elsewhere() -> None:
    seen: list[bool] = []

    async def task() -> None:
        section = ExclusiveSection()
        asyncio.get_running_loop().call_soon(lambda: seen.append(section.is_elsewhere()))
        thread = threading.Thread(target=lambda: seen.append(section.is_elsewhere()))
        async with section:
            await asyncio.sleep(0)
            thread.start()
            thread.join()

    asyncio.run(task())
    assert seen == [False, False]


def test_a_task_that_outlives_a_measurement_belongs_to_the_one_around_it() -> None:
    async def task() -> list[ExclusiveSection | None]:
        ended = asyncio.Event()

        async def late() -> ExclusiveSection | None:
            await ended.wait()
            return ExclusiveSection.current()

        async with ExclusiveSection() as outer:
            async with ExclusiveSection() as inner:
                task = asyncio.create_task(late())
                assert ExclusiveSection.current() is inner
            assert ExclusiveSection.current() is outer
            ended.set()
            assert await task is outer
            task = asyncio.create_task(late())
        assert ExclusiveSection.current() is None
        assert not outer.is_current()
        return [await task]

    assert asyncio.run(task()) == [None]


def test_on_the_loop_of_another_library_nothing_is_held() -> None:
    section = ExclusiveSection()
    with pytest.raises(StopIteration) as entered:
        section.__aenter__().send(None)
    assert (entered.value.value, ExclusiveSection.current()) == (section, None)
    with pytest.raises(StopIteration):
        section.__aexit__(None, None, None).send(None)
