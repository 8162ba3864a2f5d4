"""How a bench says what it measured: a table for people, then one JSON object as the last line."""

import json


def print_figures(columns, rows, result):
    """`rows` are as wide as `columns`; `result` goes out as JSON on one line."""
    cells = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(json.dumps(result), flush=True)
