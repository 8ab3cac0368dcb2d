"""Checks claims against sources, word by word."""
