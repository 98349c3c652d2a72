"""Risk: how far a table identifies people, and which of its columns should not be kept unchanged."""
