"""What a program was compiled with and for: flags, target, passes."""
