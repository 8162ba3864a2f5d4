"""Somewhere a test can run: what targets there are, and the worker that runs tests and scripts on one.

The only room that may start processes. What runs inside a target's interpreter is tputriage/inside.
"""
