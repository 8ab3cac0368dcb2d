"""Research: sources from a chain of providers, and an answer whose citations are checked."""
