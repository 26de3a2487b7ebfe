"""Records → Arrow tables."""
