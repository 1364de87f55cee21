"""What calls change in place, remembered and put back."""
