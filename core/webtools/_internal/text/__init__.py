"""Foreign text made safe: cleaning, invisible characters, redaction, fencing, quoting."""
