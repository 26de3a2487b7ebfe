"""Options that stand before the command: `hlodb --db FILE runs`."""

DB_BEFORE_COMMAND = "hlodb.db"
"""Key of click's context under which the warehouse given before the command stands."""
