"""What the tools do: search, fetch, summarize, read stored output, research."""
