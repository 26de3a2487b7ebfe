"""Read the data of pictures, for the few findings that have any."""
