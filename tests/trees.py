"""A tree of files like Linux's, and what is in them."""

from pathlib import Path

from ipyjaxbench.host.conditions import Meter
from ipyjaxbench.testing import FakeClock

STAT = """\
cpu  {user} 50 500 {idle} 100 0 20 {steal} 0 0
cpu0 500 25 250 4000 50 0 10 2 0 0
intr 123456 0 9
ctxt 987654
"""
PRESSURE = """\
some avg10=2.56 avg60=1.55 avg300=0.77 total={some}
full avg10=0.00 avg60=0.00 avg300=0.00 total=7777777
"""
V2_STAT = """\
usage_usec 6935323735
user_usec 6389870377
system_usec 545453357
nice_usec 327864
core_sched.force_idle_usec 0
nr_periods 100
nr_throttled {times}
throttled_usec {usec}
nr_bursts 0
burst_usec 0
"""
V1_STAT = """\
nr_periods 100
nr_throttled {times}
throttled_time {nsec}
nr_bursts 0
burst_time 0
"""
V1_GROUPS = """\
4:memory:/docker/abc
3:cpuset:/docker/abc
2:cpu,cpuacct:/docker/abc
1:name=systemd:/docker/abc
0::/docker/abc
"""


class Tree:
    """A tree of files like Linux's."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def group(self, path: str, files: dict[str, str]) -> None:
        """A control group with these files and the one that every group has."""
        for name, text in {"cgroup.procs": "1\n", **files}.items():
            self.write(f"sys/fs/cgroup/{path}/{name}", text)

    def stat(self, *, busy: int = 0, steal: int = 3) -> None:
        text = STAT.format(user=1000 + busy, idle=8000 + 7 * busy, steal=steal)
        self.write("proc/stat", text)

    def pressure(self, some: int) -> None:
        self.write("proc/pressure/cpu", PRESSURE.format(some=some))

    def thread(self, number: int, waited: int, ran: int = 10_000_000) -> None:
        self.write(f"proc/self/task/{number}/schedstat", f"{ran} {waited} 17\n")

    def meter(self) -> Meter:
        return Meter(FakeClock(), root=self.root)
