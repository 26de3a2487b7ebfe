"""Text of buffer assignments, live ranges included."""
