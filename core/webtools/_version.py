"""The version, read by the package and by the build."""

__version__ = "0.3.0"
