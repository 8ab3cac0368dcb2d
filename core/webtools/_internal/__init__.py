"""The inside of the package. Nothing here is public."""
