"""What a model may send to each tool."""
