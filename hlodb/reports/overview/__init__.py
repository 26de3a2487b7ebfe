"""What one run holds and what to do about it: rows of queries, no comparison."""
