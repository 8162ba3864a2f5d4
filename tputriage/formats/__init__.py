"""One file an input format: `sniff` and `read`."""
