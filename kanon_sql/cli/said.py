"""What the command line has said of the source's files while they were read; a manifest has it too."""

SAID: set[str] = set()
