"""What a report says beside its findings."""
