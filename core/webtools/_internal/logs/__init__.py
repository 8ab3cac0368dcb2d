"""The log: one JSON object per line and event."""
