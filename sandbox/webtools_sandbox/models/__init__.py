"""Stand-ins for the APIs of model vendors whose models search the web."""
