"""The ways to draw a response, for `hook`."""

from webtools._internal.display.data_frame import to_data_frame
from webtools._internal.display.html import draw as draw_html
from webtools._internal.display.plain import draw as draw_text
from webtools._internal.display.plain import line as draw_line
from webtools._internal.display.plots import plot
from webtools._internal.display.results_markdown import draw as draw_markdown

__all__ = ["draw_html", "draw_line", "draw_markdown", "draw_text", "plot", "to_data_frame"]
