"""Where code comes from: the user's files, libraries, or this package."""

import os
from pathlib import Path

#: Begins the path of every file of this package.
PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
