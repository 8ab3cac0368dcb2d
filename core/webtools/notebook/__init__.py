"""Magics for IPython and Jupyter. Load them with `%load_ext webtools`."""

from webtools.notebook.magics import (
    WebMagics,
    load_ipython_extension,
    unload_ipython_extension,
)

__all__ = ["WebMagics", "load_ipython_extension", "unload_ipython_extension"]
