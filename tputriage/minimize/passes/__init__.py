"""One reduction pass a file."""
