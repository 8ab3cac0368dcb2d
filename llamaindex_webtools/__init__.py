"""LlamaIndex tools over webtools."""
