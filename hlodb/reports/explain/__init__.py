"""Why memory moved: rows of queries about buffers, as causes."""
