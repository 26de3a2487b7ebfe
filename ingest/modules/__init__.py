"""The files of one unit → one module, interned, resolved and identified."""
