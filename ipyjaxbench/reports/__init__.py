"""Ways of showing a Report: one file each."""
