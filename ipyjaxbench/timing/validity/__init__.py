"""What may mislead about a figure, as Notes."""
