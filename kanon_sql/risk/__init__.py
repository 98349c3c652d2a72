"""Risk: what tells people apart in a table, and which columns should not be kept as they are."""
