"""The append-only truth of every session."""
