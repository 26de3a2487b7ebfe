"""A dump compiled again: recover → compile → compare. Replay makes dumps, no rows."""
