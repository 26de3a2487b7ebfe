"""Arrow tables → warehouse, and out of it again."""
