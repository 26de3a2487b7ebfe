"""HLO text by the grammar of XLA's own parser: what people write by hand.

    text → tokens → syntax → syntax with XLA's names → records

XLA prints a line for each instruction, and the modules beside this room read those
lines. This room reads whatever else XLA takes: comments anywhere, instructions over
several lines or within one another, bodies of computations inside attributes,
`fusion-start` for an async-start, shapes left out, names that collide.
"""
