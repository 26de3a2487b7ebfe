"""What is drawn: its data, and SVG."""
