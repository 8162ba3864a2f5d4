"""Normalise a message, sign a failure, group failures into buckets."""
