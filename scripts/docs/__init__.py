"""The documentation site: see scripts/build_docs.py."""
