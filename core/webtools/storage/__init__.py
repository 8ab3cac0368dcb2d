"""The store of cached answers, spending and circuit breakers."""
