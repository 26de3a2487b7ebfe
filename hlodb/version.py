"""The version, apart from all else: every room may ask for it."""

__version__ = "0.1.0"
