"""What may become of a value, and of a whole tuple: hierarchies, and the lattice of their levels."""
