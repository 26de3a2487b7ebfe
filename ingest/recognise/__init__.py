"""What a file is, from its name and its content: kind, stage, module, pass."""
