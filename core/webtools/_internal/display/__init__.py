"""Display of responses: one line, HTML, Markdown and data frames."""
