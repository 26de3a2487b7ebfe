"""One command a file; each holds a click command called `command`."""
