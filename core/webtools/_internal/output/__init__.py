"""What a model reads: formatting, truncation, stored outputs."""
