"""Judge what changed between runs, and explain single runs."""
