"""Stand-ins for the APIs of model vendors whose models search the web."""

from __future__ import annotations

from webtools_sandbox.models.anthropic import AnthropicVendor
from webtools_sandbox.models.base import ModelVendor
from webtools_sandbox.models.google import GoogleVendor
from webtools_sandbox.models.openai import OpenAIVendor

VENDORS: tuple[type[ModelVendor], ...] = (OpenAIVendor, AnthropicVendor, GoogleVendor)
