"""For authors of providers: the tests that each must pass, and calls without a network."""

from webtools.testing.calls import URLS, answer, outcome, registered
from webtools.testing.conformance import INSTANCE, JUNK, KEY, ProviderConformance, assert_sound

__all__ = [
    "INSTANCE",
    "JUNK",
    "KEY",
    "URLS",
    "ProviderConformance",
    "answer",
    "assert_sound",
    "outcome",
    "registered",
]
