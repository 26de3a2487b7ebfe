"""hlodb: XLA compiler dumps of many runs as one DuckDB warehouse."""

__version__ = "0.1.0"
