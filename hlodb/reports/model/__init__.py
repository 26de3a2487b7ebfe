"""The report as data: what every form shows."""
