"""Pages from their own sites: what may be fetched (`guard`), how (`fetching`), how it is read."""
