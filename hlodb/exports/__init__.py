"""Programs in the formats of other viewers, and of a solver: rows of queries."""
