"""The warehouse: its tables, views and how a file is opened."""
