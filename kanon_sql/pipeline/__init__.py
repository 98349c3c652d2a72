"""Releases night after night: what changed, what earlier releases tell together with a new one, and the audit trail."""
