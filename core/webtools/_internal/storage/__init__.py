"""What calls share: cache entries, spending, circuit breakers and rate limits."""
