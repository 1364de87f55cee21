"""What real devices answered, as `tests.hardware.record` wrote it, through the parsers of today."""
