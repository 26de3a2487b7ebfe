"""Draw pictures as SVG, each with a sentence and a table."""
