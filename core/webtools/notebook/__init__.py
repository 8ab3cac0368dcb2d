"""Magics for IPython and Jupyter: `%load_ext webtools`, then `%web_search` and others."""

from webtools.notebook.magics import (
    WebMagics,
    load_ipython_extension,
    unload_ipython_extension,
)

__all__ = ["WebMagics", "load_ipython_extension", "unload_ipython_extension"]
