"""XLA's and JAX's own reports of memory use."""
