"""One file a kind of job; the file's name is the kind's name."""
