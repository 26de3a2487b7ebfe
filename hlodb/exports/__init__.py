"""Programs in the formats of other viewers: rows of queries, and nothing computed."""
