"""Pictures of what a run found."""
