"""Risk: how far people are told apart in a table, and which of its columns should not be kept as they are."""
