"""One file per dump format; each a pure function from text or bytes to records."""
