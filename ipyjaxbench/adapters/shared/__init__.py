"""What several adapters use."""
