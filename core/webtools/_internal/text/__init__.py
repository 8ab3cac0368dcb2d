"""Sanitizing of untrusted text: cleaning, invisible characters, redaction, fencing, quoting."""
