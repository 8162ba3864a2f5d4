"""What runs inside a target's interpreter, where tputriage may not be installed.

Standard library, pytest and torch alone, and relative imports only: a target's interpreter loads this folder
by its path under the name `tputriage_inside`, so that nothing else of the tool's environment comes along.
Each file in kinds/ is one kind of job: `serve(payload, session) -> JSON value`, called in a forked child.
"""
