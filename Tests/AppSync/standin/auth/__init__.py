"""Who calls, and what the rules of the schema let them do."""
