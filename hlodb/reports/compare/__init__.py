"""What is compared with what: rows of queries about runs and modules."""
