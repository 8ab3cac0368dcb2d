"""Input models of the tools: the arguments that a model can send."""
