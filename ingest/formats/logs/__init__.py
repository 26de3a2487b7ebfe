"""Logs: framed files, modules and reports of running out of memory."""
