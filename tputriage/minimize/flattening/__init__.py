"""What flattening a test is made of: the suite read, names found, statements rewritten, the last lines driven."""
