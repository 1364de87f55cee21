"""Whether calls of compiled functions are traced or cached, why, and at what cost."""
