"""Files of dumps from paths, archives and URLs, within limits."""
