"""Types of the numbers in results: a record with a number outside of them is refused.

They hold for what is read back; nothing is looked at while code is measured.
"""

import sys
from typing import Annotated

from msgspec import Meta

NonNegativeInt = Annotated[int, Meta(ge=0, le=2**63 - 1)]
PositiveInt = Annotated[int, Meta(ge=1, le=2**63 - 1)]
NonNegativeFloat = Annotated[float, Meta(ge=0, le=sys.float_info.max)]
PositiveFloat = Annotated[float, Meta(gt=0, le=sys.float_info.max)]
Digits = Annotated[int, Meta(ge=1, le=15)]  # significant ones; a floating-point number has no more
Moment = Annotated[float, Meta(ge=0, lt=2**63)]  # seconds since 1970
Lines = Annotated[tuple[tuple[str, str], ...], Meta(min_length=1)]  # labels and what they say
