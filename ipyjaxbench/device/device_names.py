"""Devices in a few words: those of one platform together, and those of one rank."""

from collections.abc import Iterator, Mapping, Sequence


def name_holders(devices: Sequence[str], ranks: Mapping[str, int | None]) -> str:
    """Return which ranks hold a part, with the devices of those that hold it on some alone.

    Args:
        devices: that hold the part.
        ranks: by device the rank of its process, of all devices that hold the array; empty where
            one process holds all of it.

    Example:
        >>> ranks = {"gpu:0": 0, "gpu:1": 0, "gpu:2": 1, "gpu:3": 1}
        >>> name_holders(["gpu:0", "gpu:1"], ranks), name_holders(["gpu:0", "gpu:2"], ranks)
        ('rank:0', 'rank:0,1 gpu:0,2')
    """
    if not any(device in ranks for device in devices):
        return shorten_devices(devices)
    by_rank: dict[int | None, list[str]] = {}
    for device in devices:
        by_rank.setdefault(ranks.get(device), []).append(device)
    sizes: dict[int | None, int] = {}
    for rank in ranks.values():
        sizes[rank] = sizes.get(rank, 0) + 1
    whole = [rank for rank, own in by_rank.items() if len(own) == sizes.get(rank)]
    some = [rank for rank in by_rank if rank not in whole]
    parts = [_name_ranks(whole), _name_ranks(some)]
    parts.append(shorten_devices([device for rank in some for device in by_rank[rank]]))
    return " ".join(filter(None, parts))


def _name_ranks(ranks: Sequence[int | None]) -> str:
    return shorten_devices([f"rank:{rank}" for rank in ranks])


def shorten_devices(devices: Sequence[str]) -> str:
    """Return devices, those of one platform together.

    Example:
        >>> shorten_devices(["cpu:0", "cpu:1", "cpu:4"])
        'cpu:0,1,4'
    """
    by_platform: dict[str, list[str]] = {}
    for device in devices:
        platform, _, number = device.rpartition(":")
        by_platform.setdefault(platform or device, []).append(number if platform else "")
    return " ".join(
        f"{platform}:{','.join(shorten_numbers(numbers))}" if any(numbers) else platform
        for platform, numbers in by_platform.items()
    )


def shorten_numbers(numbers: Sequence[str]) -> Iterator[str]:
    """Yield numbers, of more than two neighbours the first and the last.

    Example:
        >>> [*shorten_numbers(["0", "1", "2", "5"])]
        ['0-2', '5']
    """
    if not all(number.isdigit() for number in numbers):
        yield from numbers
        return
    groups: list[list[int]] = []
    for number in sorted(map(int, numbers)):
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    for group in groups:
        yield f"{group[0]}-{group[-1]}" if len(group) > 2 else ",".join(map(str, group))
