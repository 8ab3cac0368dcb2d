"""A request to the API of a provider: cache, single flight, budget, circuit breaker, retries."""
