"""The machine: its clock, its conditions, its files."""
