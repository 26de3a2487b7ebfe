"""HLO text, of modules and of single instructions."""
