"""The roofline of a chip: no program is faster than its peaks allow."""

from collections.abc import Mapping
from dataclasses import dataclass

#: The dtype of products that are asked for in full float32: no tensor core has these.
FULL_FLOAT32 = "float32 in full"


@dataclass(frozen=True)
class Roof:
    """The peaks of one chip.

    Attributes:
        products: FLOP/s of matrix products, dense, by the dtype of what they multiply.
        bandwidth: bytes/s of its memory.
    """

    products: Mapping[str, float]
    bandwidth: float

    def seconds(self, products: Mapping[str, float], nbytes: float) -> float:
        """Return the least time of some work: the longer of that in products and in memory.

        Products of a dtype without a peak take no time here. Source: Williams, Waterman and
        Patterson, "Roofline" (Communications of the ACM 52, 2009).

        Args:
            products: FLOP by dtype.
            nbytes: that are read from memory and written to it.

        Example:
            >>> Roof({"bfloat16": 1e15}, 3e12).seconds({"bfloat16": 2e12}, 3e9)
            0.002
        """
        known = ((dtype, flops) for dtype, flops in products.items() if dtype in self.products)
        computing = sum(flops / self.products[dtype] for dtype, flops in known)
        return max(computing, nbytes / self.bandwidth)
