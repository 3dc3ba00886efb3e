"""One module for each family of faults. Every analyzer is a pure function of a View that yields findings."""
