"""What is known, kept in `.tputriage/`: a SQLite database and a folder of repro scripts.

The only room that opens a database. Each public function is one transaction, so a process that is killed at
any moment leaves what was stored before whole, and nothing half written.
"""

from tputriage.store.database import COUNTERFACTUAL, Store, open_store
from tputriage.store.schema import MIGRATIONS

NEWEST = len(MIGRATIONS)  # the shape of the database that this program knows

__all__ = ["COUNTERFACTUAL", "NEWEST", "Store", "open_store"]
