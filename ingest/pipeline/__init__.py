"""A run on its way into the warehouse: schedule, transactions, workers, staging."""
