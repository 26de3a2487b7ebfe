"""A report as titled sections of plain blocks."""
