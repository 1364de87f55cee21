"""Has imported frameworks look for devices now; they are left alone unless a user asks for it."""

from collections.abc import Iterable

from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.errors import OptionError
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.host import summarize_error


def start_frameworks(frameworks: Iterable[Framework]) -> None:
    """Let frameworks that were imported look for devices now.

    Raises:
        OptionError: one has none to offer, such as with a plugin that cannot be loaded; the others
            are started all the same.
    """
    failures = []
    for framework in frameworks:
        try:
            framework.capability(DeviceInventory).start()
        # A plugin or a driver has many ways to say that it does not work.
        except Exception as error:  # noqa: BLE001
            failures.append(f"{framework.name} cannot start: {summarize_error(error)}")
    if failures:
        raise OptionError(f"--start: {'; '.join(failures)}")
