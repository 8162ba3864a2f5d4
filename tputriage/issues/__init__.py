"""From what is known of the buckets to issues on a tracker: plan (pure), text, and applying with a ledger."""
