"""What may mislead about a figure, as Notes.

`checks` asks for all of it, after the first call and after the last. The other files each look
for one thing: what compiled functions compute, copies, values that are computed later or kept,
work in the background, and what watches the code.
"""
