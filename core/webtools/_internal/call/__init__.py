"""A call: check its arguments, run it, sanitize and present its result."""
