"""The steps in order, with the store between them: one file a command."""
