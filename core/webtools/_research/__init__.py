"""Research: retrieval with fallback, pages read, and a synthesis whose every citation is checked."""
