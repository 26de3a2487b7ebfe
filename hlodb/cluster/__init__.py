"""Queries and ingests in tasks: pure functions that Spark and Ray call on workers."""
