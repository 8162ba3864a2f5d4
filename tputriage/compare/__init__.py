"""Rerun representatives on the device and its reference, and judge what the runs say."""
