"""From a source and a spec to a plan: roles, privacy models, hierarchies, search or local recoding."""
