"""Plan what to file, and apply the plan through a ledger."""
