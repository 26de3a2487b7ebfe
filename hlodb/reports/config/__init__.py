"""hlodb.toml: settings, budgets, waivers, owners."""
