"""Judge facts by settings: findings, gates, decisions, the verdict."""
