"""What validates notebooks reads no grammar of IRIs, of which they have none: it takes seconds.

A plugin, for processes in which other plugins would import it before `conftest`.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
