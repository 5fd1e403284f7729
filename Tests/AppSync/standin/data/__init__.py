"""The records: tables with versions, tombstones and a log of changes, and how conflicts end."""
