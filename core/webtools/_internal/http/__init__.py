"""All network I/O: messages, transport, connection pool, network backends, DNS."""
