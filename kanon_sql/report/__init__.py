"""Pictures of what a run searched."""
