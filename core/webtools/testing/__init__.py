"""Conformance tests for authors of providers, provider calls without a network, and isolation."""

try:
    from webtools.testing.conformance import INSTANCE, JUNK, KEY, ProviderConformance, assert_sound
    from webtools.testing.isolation import isolated
    from webtools.testing.provider_calls import URLS, answer, outcome, registered
except ModuleNotFoundError as error:
    if error.name != "pytest":
        raise
    raise ImportError("webtools.testing needs pytest: pip install pytest") from error

__all__ = [
    "INSTANCE",
    "JUNK",
    "KEY",
    "URLS",
    "ProviderConformance",
    "answer",
    "assert_sound",
    "isolated",
    "outcome",
    "registered",
]
