"""What a query answered, as tables, data formats and HTML."""
