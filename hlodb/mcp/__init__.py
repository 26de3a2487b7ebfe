"""Answers for assistants over the Model Context Protocol: bounded, typed, read-only."""
