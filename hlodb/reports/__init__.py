"""What changed between runs, and whether it is allowed."""
