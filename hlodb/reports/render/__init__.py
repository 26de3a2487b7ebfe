"""Every form of a report, one file each."""
