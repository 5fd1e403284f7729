"""Executes operations against the tables."""
