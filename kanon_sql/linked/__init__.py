"""Releases of several tables whose rows belong to the same people: (k, m)-anonymity over people."""
