"""Entities as columns, for :meth:`kvstore.Store.to_pandas` and ``to_arrow``."""
