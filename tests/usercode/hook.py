"""What is called through a hook, in order."""

from typing import Any

from ipyjaxbench.usercode.instrumented_tree import Site


class Hook:
    """Records what is called where."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.functions: list[Any] = []

    def pick(self, site: Site, function: Any, /) -> Any:
        """Take the call down, and leave the function as it is."""
        self.sites.append(site)
        self.functions.append(function)
        return function

    @property
    def texts(self) -> list[str]:
        """The calls as they are written."""
        return [site.text for site in self.sites]
