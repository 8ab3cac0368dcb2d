"""LangChain tools over webtools."""
