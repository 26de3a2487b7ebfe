"""Questions about dumps for assistants, graded by program."""
