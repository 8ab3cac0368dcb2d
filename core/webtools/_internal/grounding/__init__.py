"""Pure functions on text: passages, their ranking against a question, answers quoted from them."""
