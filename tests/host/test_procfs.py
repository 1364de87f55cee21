"""What Linux tells in files, read from trees of files in its formats."""

import os

import pytest

from ipyjaxbench.host import procfs
from ipyjaxbench.host.conditions import Conditions, describe_machine
from tests.trees import V1_GROUPS, V1_STAT, V2_STAT, Tree

TOLD_IN_FILES = ("busy", "waited", "pressure", "throttles", "throttled", "steal")


def test_pressure_busy_and_steal_are_rises_of_counters(tree: Tree) -> None:
    tree.pressure(630_581_445)
    tree.stat()
    meter = tree.meter()
    tree.pressure(631_331_445)
    tree.stat(busy=150, steal=23)
    tick = 1 / os.sysconf("SC_CLK_TCK")
    seen = meter.read()
    assert (seen.pressure, seen.busy, seen.steal) == pytest.approx((0.75, 150 * tick, 20 * tick))
    tree.write("proc/stat", "cpu  1 2 3 4\n")  # an old kernel without steal still tells busy
    seen = tree.meter().read()
    assert (seen.busy, seen.steal) == (0.0, None)


@pytest.mark.parametrize(
    ("before", "after", "waited"),
    [({10: 5_000_000_000, 11: 1_000_000_000}, {10: 5_250_000_000, 11: 1_500_000_000}, 0.75),
     # One that ended takes nothing back, and a new one counts whole.
     ({10: 5_000_000_000, 11: 9_000_000_000}, {10: 5_000_000_000, 12: 250_000_000}, 0.25),
     ({10: 5_000_000_000}, {10: 250_000_000}, 0.25),  # its number went to another thread
     ({10: 0}, {10: 0, 11: 3_000_000_000}, 3.0), ({10: 0}, {10: 0}, 0.0)],
)  # fmt: skip
def test_waiting(tree: Tree, before: dict[int, int], after: dict[int, int], waited: float) -> None:
    for thread, ns in before.items():
        tree.thread(thread, ns)
    meter = tree.meter()
    for thread in before.keys() - after:
        (tree.root / f"proc/self/task/{thread}/schedstat").unlink()
    for thread, ns in after.items():
        tree.thread(thread, ns)
    assert meter.read().waited == meter.waited() == pytest.approx(waited)


def test_a_kernel_that_counts_no_waiting_tells_none_and_no_file_stays_open(tree: Tree) -> None:
    before = sorted(os.listdir("/dev/fd"))
    tree.thread(10, waited=0, ran=0)
    (tree.root / "proc/self/task/11/schedstat").mkdir(parents=True)
    meter = tree.meter()
    assert meter.read().waited is meter.waited() is None
    assert sorted(os.listdir("/dev/fd")) == before


def test_the_run_delay_is_that_of_the_thread_that_asks(tree: Tree) -> None:
    assert procfs.run_delay(tree.root) == 0  # where the system does not tell
    tree.write("proc/thread-self/schedstat", "5 700 2\n")
    assert procfs.run_delay(tree.root) == 700


# Quotas


@pytest.mark.parametrize(
    ("group", "folders", "stat", "unit"),
    [("0::/user.slice/job\n", ["user.slice/job"], V2_STAT, "usec"),
     (V1_GROUPS, ["cpu,cpuacct"], V1_STAT, "nsec"),  # where a container is mounted
     ("2:cpu,cpuacct:/\n0::/\n", ["cpu,cpuacct", "cpu"], V1_STAT, "nsec"),  # twice: counts once
     ("0::/pod/container\n", ["pod"], V2_STAT, "usec"),  # a group around it
     ("0::/../../other\n", [""], V2_STAT, "usec")],  # outside of a container: its top
)  # fmt: skip
def test_quotas_of_groups(tree: Tree, group: str, folders: list[str], stat: str, unit: str) -> None:
    tree.write("proc/self/cgroup", group)
    tree.group("", {})
    second = 10**6 if unit == "usec" else 10**9
    for folder in folders:
        tree.group(folder, {"cpu.stat": stat.format(times=5, **{unit: second})})
    meter = tree.meter()
    assert procfs.throttling(tree.root) == pytest.approx((5, 1.0))
    for folder in folders:
        tree.group(folder, {"cpu.stat": stat.format(times=17, **{unit: 3 * second})})
    seen = meter.read()
    assert (seen.throttles, seen.throttled) == (12, pytest.approx(2.0))


@pytest.mark.parametrize(
    ("groups", "files", "fact", "known"),
    [
        ("0::/job\n", {"memory.max": "2147483648\n"}, "memory_limit", 2**31),
        ("0::/job\n", {"memory.max": "max\n"}, "memory_limit", None),
        ("0::/job\n", {"memory.max": f"{2**60 - 1}\n"}, "memory_limit", 2**60 - 1),
        ("0::/job\n", {"memory.max": f"{2**60}\n"}, "memory_limit", None),
        ("4:memory:/job\n", {"memory.limit_in_bytes": "4096\n"}, "memory_limit", 4096),
        ("4:cpu:/job\n", {"memory.limit_in_bytes": "4096\n"}, "memory_limit", None),
        ("0::/job\n", {}, "memory_limit", None),
        ("0::/job\n", {"cpu.max": "150000 100000\n"}, "cpu_quota", 1.5),
        ("0::/job\n", {"cpu.max": "max 100000\n"}, "cpu_quota", None),
        ("0::/job\n", {"cpu.max": "100000 0\n"}, "cpu_quota", None),
        ("0::/job\n", {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n"},
         "cpu_quota", 0.5),
        ("0::/job\n", {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"},
         "cpu_quota", None),
        ("0::/job\n", {}, "cpu_quota", None),
    ],
)  # fmt: skip
def test_the_environment_has_the_limits_of_its_group(
    tree: Tree, groups: str, files: dict[str, str], fact: str, known: float | None
) -> None:
    tree.write("proc/self/cgroup", groups)
    for mount in ("", "memory"):
        tree.group(mount, {})
        tree.group(f"{mount}/job", files)
    assert describe_machine(tree.root)[fact] == known


def test_the_tightest_of_several_groups_counts(tree: Tree) -> None:
    tree.write("proc/self/cgroup", "0::/pod/container\n")
    tree.group("", {})
    tree.group("pod", {"memory.max": "4096\n", "cpu.max": "200000 100000\n"})
    tree.group("pod/container", {"memory.max": "8192\n", "cpu.max": "400000 100000\n"})
    told = describe_machine(tree.root)
    assert (told["memory_limit"], told["cpu_quota"]) == (4096, 2.0)


@pytest.mark.parametrize(
    ("caches", "core", "largest"),
    [((), None, None), ((("1", "32K"),), None, 2**15),
     ((("1", "32K"), ("1", "48K"), ("2", "512K"), ("3", "32M")), 512 * 2**10, 2**25),
     ((("2", "4M"), ("1", "64K")), 64 * 2**10, 2**22),
     ((("first", "64K"), ("2", "1G")), 64 * 2**10, 2**30),
     ((("1", "many"), ("2", "512")), None, 512)],
)  # fmt: skip
def test_the_caches_of_the_first_cpu_are_its_cores_own_and_the_largest(
    tree: Tree, caches: tuple[tuple[str, str], ...], core: int | None, largest: int | None
) -> None:
    for index, (level, size) in enumerate(caches):
        folder = f"sys/devices/system/cpu/cpu0/cache/index{index}"
        tree.write(f"{folder}/level", f"{level}\n")
        tree.write(f"{folder}/size", f"{size}\n")
    assert (procfs.core_cache(tree.root), procfs.largest_cache(tree.root)) == (core, largest)


def test_child_processes_are_those_of_all_threads(tree: Tree) -> None:
    assert procfs.child_processes(tree.root) == frozenset()
    tree.write("proc/self/task/10/children", "11 12 ")
    tree.write("proc/self/task/13/children", "14 ")
    assert procfs.child_processes(tree.root) == {11, 12, 14}


# What cannot be read is not told, and nothing fails


def not_told(seen: Conditions) -> bool:
    return all(getattr(seen, name) is None for name in TOLD_IN_FILES)


GARBAGE = [
    b"", b"\0\0", b"0::/\0\n", b"\xff\xfe\x00cpu\x80", b"some garbage total=\ncpu  x y z\n",
    b"total=5", b"cpu  -1 -2 -3 -4\n",
    b"cpu  %b %b %b 0\n1 %b 1\n" % (4 * (b"9" * 400,)),  # no counter reaches such numbers
    b"9" * 9999,
    None,  # a folder, which cannot be read, as a file that may not be, for every user
]  # fmt: skip


@pytest.mark.parametrize("content", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_in_files_tells_nothing(tree: Tree, content: bytes | None) -> None:
    assert not_told(tree.meter().read())  # nor does an empty tree
    tree.group("", {})
    for path in ("proc/stat", "proc/pressure/cpu", "proc/self/cgroup", "proc/cpuinfo",
                 "proc/self/task/1/schedstat", "proc/meminfo", "sys/fs/cgroup/cpu.stat",
                 "sys/fs/cgroup/cpu.max"):  # fmt: skip
        (tree.root / path).parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            (tree.root / path).mkdir()
        else:
            (tree.root / path).write_bytes(content)
    assert not_told(tree.meter().read())
    told = describe_machine(tree.root)
    assert told["memory"] is told["cpu_quota"] is None


def test_counters_that_go_back_tell_nothing(tree: Tree) -> None:
    tree.stat(busy=100, steal=50)
    tree.pressure(1000)
    tree.write("proc/self/cgroup", "0::/\n")
    tree.group("", {"cpu.stat": V2_STAT.format(times=9, usec=9)})
    meter = tree.meter()
    tree.stat(busy=0, steal=3)
    tree.pressure(10)
    tree.group("", {"cpu.stat": V2_STAT.format(times=1, usec=1)})
    assert not_told(meter.read())
    (tree.root / "proc/stat").unlink()  # what vanishes is not told either
    (tree.root / "proc/pressure/cpu").unlink()
    assert not_told(meter.read())
