"""The parts of `webtools.rendering`."""
