"""How responses show themselves: as a line, HTML, Markdown and a data frame."""
