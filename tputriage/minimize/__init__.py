"""Shrink a failure to a verified standalone repro."""
