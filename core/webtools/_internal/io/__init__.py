"""I/O of operations, in two runtimes: blocking, and on an event loop."""
