"""Titled sections of plain blocks, for every format that people read."""
