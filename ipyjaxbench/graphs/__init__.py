"""The program that a call is, and why a call does not trace."""
