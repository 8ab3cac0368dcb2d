"""Browser: pages whose text is made by JavaScript, rendered by the user's own Chrome or Chromium.

All traffic of the browser passes the guard of direct fetching.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from importlib.util import find_spec

from webtools._internal.pages import missing_libraries
from webtools._internal.pages.rendering import Renderer
from webtools.errors import ConfigError
from webtools.providers import direct
from webtools.providers.about import About, Account
from webtools.providers.parsing import free
from webtools.providers.protocols import PageCall, PageQuery, Pages

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PAGES_AT_ONCE = 2  # each has a browser of its own


class BrowserOptions(direct.DirectOptions):
    """Options of a browser entry.

    Attributes:
        executable: Path of Chrome or Chromium. Default: the first one on the PATH.
        no_sandbox: Start the browser without its sandbox if the user is root. Pages can then do
            more harm: use it only in a container.
    """

    executable: str | None = None
    no_sandbox: bool = False


ABOUT = About(
    name="browser",
    title="Browser",
    origin="",  # there is no API
    needs_key=False,
    options=BrowserOptions,
    reads_whole_pages=True,
    last_resort_for=("fetch",),
)
fetch_price = free
read_error = direct.read_error


async def pages(query: PageQuery, account: Account, call: PageCall) -> Pages:
    """Render the pages, each in a browser of its own.

    Raises:
        ConfigError: The extra `browser` is not installed, or no browser is.
    """
    executable = await call.io.call_blocking(lambda: _find(account.options))
    is_root = getattr(os, "geteuid", lambda: 1)() == 0
    fetcher = direct.page_fetcher(account, call)
    renderer = Renderer(
        executable=executable,
        has_sandbox=not (is_root and account.options.no_sandbox),
        io=call.io,
        deadline=call.deadline,
        check_site=fetcher.check_site,
        choose_proxy=fetcher.choose_proxy,
    )
    fetcher = replace(fetcher, render=renderer.render)
    return await direct.read_pages(query, account, call, fetcher, _PAGES_AT_ONCE)


def _find(options: BrowserOptions) -> str:
    if find_spec("playwright") is None:
        install = "pip install 'agent-webtools[browser]'"
        raise ConfigError(f'A provider of type "browser" needs playwright: {install}')
    if error := missing_libraries():
        raise error
    names = (options.executable,) if options.executable else _NAMES
    if found := next(filter(None, map(shutil.which, names)), None):
        return found
    wanted = f'executable "{options.executable}" is' if options.executable else "browser was"
    raise ConfigError(
        f'Provider of type "browser": no {wanted} found. Install Chrome or Chromium, or set the '
        "option executable to its path."
    )
