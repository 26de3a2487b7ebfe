"""Canned questions: SQL files with front matter, run and rendered."""
