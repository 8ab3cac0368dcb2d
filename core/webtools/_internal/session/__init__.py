"""Sessions: what one user, conversation or run does on the web."""
