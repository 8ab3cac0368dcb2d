"""What an operation may do that blocks, in two runtimes: blocking and on an event loop."""
