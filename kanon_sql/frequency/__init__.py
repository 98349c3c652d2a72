"""The frequency set: distinct tuples, counted and coded; its roll-ups, its judge, and the hierarchies fitted to it."""
