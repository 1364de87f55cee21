"""Why a call would not trace, and what to write instead: each fix is tried."""
