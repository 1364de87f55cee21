"""Where arrays live, how they are sharded and copied, and what devices can do at most."""
