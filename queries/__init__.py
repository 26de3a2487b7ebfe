"""The catalogue: one question, one file under sql/; front matter → macro → result."""
