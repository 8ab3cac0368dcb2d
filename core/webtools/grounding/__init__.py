"""Pure functions on text: passages, their ranking against a question, and answers quoted from them."""
