"""hlodb inside of other tools: JAX, pytest, notebooks, Spark, Ray."""
