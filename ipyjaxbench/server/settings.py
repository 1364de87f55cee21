"""What can be configured in ``jupyter_server_config.py``."""

from traitlets import Int
from traitlets.config import Configurable

from ipyjaxbench.ipynb import Limits


class IpyJaxBenchServer(Configurable):
    """Settings of the server's part of ipyjaxbench.

    Example:
        >>> IpyJaxBenchServer().max_notebook
        64000000
    """

    max_notebook = Int(64_000_000, min=1, help="Bytes of the largest notebook that is read.").tag(
        config=True
    )
    max_cells = Int(20_000, min=1, help="Cells of the largest notebook that is read.").tag(
        config=True
    )
    max_records = Int(1_000, min=2, help="Results read for one answer at most.").tag(config=True)

    @property
    def limits(self) -> Limits:
        """How much is read for one answer."""
        return Limits(self.max_cells, self.max_records)
