"""The simulated APIs: one module each, with a table of routes and models of the requests."""

from __future__ import annotations

from webtools_sandbox.apis.base import Api
from webtools_sandbox.apis.brave import BraveApi
from webtools_sandbox.apis.context7 import Context7Api
from webtools_sandbox.apis.exa import ExaApi
from webtools_sandbox.apis.firecrawl import FirecrawlApi
from webtools_sandbox.apis.jina import JinaApi, JinaSearchApi
from webtools_sandbox.apis.kagi import KagiApi
from webtools_sandbox.apis.linkup import LinkupApi
from webtools_sandbox.apis.parallel import ParallelApi
from webtools_sandbox.apis.perplexity import PerplexityApi
from webtools_sandbox.apis.searxng import SearxngApi
from webtools_sandbox.apis.serper import SerperApi
from webtools_sandbox.apis.tavily import TavilyApi
from webtools_sandbox.apis.wikipedia import WikipediaApi
from webtools_sandbox.apis.you import YouApi

# The first one is the default provider of the sandbox's configuration.
APIS: tuple[type[Api], ...] = (
    ExaApi,
    KagiApi,
    BraveApi,
    PerplexityApi,
    Context7Api,
    TavilyApi,
    WikipediaApi,
    SearxngApi,
    SerperApi,
    YouApi,
    FirecrawlApi,
    LinkupApi,
    ParallelApi,
    JinaApi,
    JinaSearchApi,
)
