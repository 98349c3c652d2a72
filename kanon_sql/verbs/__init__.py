"""The public verbs: every one goes from a source and a spec to a result."""
