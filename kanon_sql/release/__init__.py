"""The release: what every row becomes, written where it should go, and verified there."""
