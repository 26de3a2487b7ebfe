"""What moved, and whether that is allowed: findings, gates, decisions."""
