"""Entities as columns: what :meth:`kvstore.Store.to_pandas` and ``to_arrow`` are made with."""
