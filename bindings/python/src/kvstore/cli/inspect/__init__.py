"""``kvstore inspect``: a full-screen view of a store, in a terminal or in a browser."""
