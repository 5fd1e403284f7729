"""``kvstore inspect``: a store on the whole screen, in a terminal or in a browser."""
