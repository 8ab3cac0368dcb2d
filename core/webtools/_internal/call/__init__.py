"""A call from its arguments to its result: validate, select, run, sanitize, present."""
