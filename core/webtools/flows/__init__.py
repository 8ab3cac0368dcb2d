"""Flows: the steps they yield, the two drivers that perform them, calls of foreign code."""
