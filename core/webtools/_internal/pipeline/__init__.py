"""One call of a provider's API: cache, single flight, budget, circuit breaker, retries."""
