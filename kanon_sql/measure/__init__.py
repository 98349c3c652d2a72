"""Measurements of a release and its source: risk, utility, evidence and people."""
