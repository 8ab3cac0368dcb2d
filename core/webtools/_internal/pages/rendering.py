"""Render pages with JavaScript, in a browser whose traffic passes `guard_proxy`.

Each page has a browser process, a profile and a proxy of its own, on an event loop in a thread of
its own: blocking and async calls do the same.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from webtools._internal.faults import Fault, with_fault
from webtools._internal.http.proxies import Proxy
from webtools._internal.io.runtime import IO
from webtools._internal.pages.fetching import MAX_PAGE_BYTES, MAX_REDIRECTS, Rendered
from webtools._internal.pages.guard_proxy import USER, GuardProxy
from webtools._internal.pages.ssrf import Policy
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.urls import Target, follow, parse
from webtools.errors import (
    ConfigError,
    ProviderError,
    RequestError,
    RequestTimeoutError,
    WebToolsError,
)
from webtools.messages import Response

if TYPE_CHECKING:
    from playwright.async_api import Page, Request
    from playwright.async_api import Response as PageResponse

_SHARE = 0.85  # of the time that is left: closing the browser and reading the page need the rest
_IDLE_SECONDS = 5.0  # to wait for a pause of the network; pages that poll never pause
_ATTEMPTS = 3  # to take the text of a page that leads to another one
_ARGUMENTS = [
    "--disable-background-networking",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # the proxy looks hosts up
    "--no-pings",
    "--blink-settings=imagesEnabled=false",
]
# The browser gets no other variables: some may hold keys.
_VARIABLES = (
    *("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PROGRAMFILES", "PROGRAMDATA", "XDG_RUNTIME_DIR"),
)
_MAX_FRAMES_NAMED = 3
_LONGEST_HOST = 100
# Returns the page as HTML with its shadow roots and the frames of its own origin, and the hosts of
# other frames that are large enough to be content.
_SERIALIZE = """() => {
  const shadowRoots = [], unread = new Set()
  const visit = root => {
    for (const element of [...root.querySelectorAll('noscript')]) element.remove()
    for (const element of [...root.querySelectorAll('*')]) {
      if (element.shadowRoot) {
        shadowRoots.push(element.shadowRoot)
        visit(element.shadowRoot)
      } else if (element.localName === 'iframe' || element.localName === 'frame') {
        if (element.offsetWidth < 2 || element.offsetHeight < 2) continue
        const body = element.contentDocument && element.contentDocument.body
        if (body) {
          visit(body)
          const part = document.createElement('div')
          for (const name of ['style', 'class']) {
            if (element.hasAttribute(name)) part.setAttribute(name, element.getAttribute(name))
          }
          part.append(...body.childNodes)
          element.replaceWith(part)
        } else if (element.offsetWidth >= 200 && element.offsetHeight >= 100) {
          try { unread.add(new URL(element.src).host) } catch {}
        }
      }
    }
  }
  visit(document)
  const root = document.documentElement
  const html = root.getHTML ? root.getHTML({shadowRoots}) : root.innerHTML
  return [`<!DOCTYPE html><html>${html}</html>`, [...unread].filter(Boolean)]
}"""
_NO_SANDBOX = re.compile(r"without --no-sandbox|[Nn]o usable sandbox|SUID sandbox")
_ERROR_CODE = re.compile(r"net::ERR_[A-Z0-9_]+")


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders the pages of a call.

    Attributes:
        executable: Path of Chrome or Chromium.
        has_sandbox: Whether the browser isolates its processes.
        io: The I/O runtime of the call.
        deadline: Deadline of the call.
        check_site: Raises for a URL that the operator does not allow.
        choose_proxy: Returns the proxy that the settings name for a URL, or None.
    """

    executable: str
    has_sandbox: bool
    io: IO
    deadline: float
    check_site: Callable[[str], None]
    choose_proxy: Callable[[str], Proxy | None]

    async def render(self, target: Target, policy: Policy) -> Rendered:
        """Load a page, let its scripts run, and return what it then is.

        Raises:
            WebToolsError: The guard refused it, or it cannot be loaded.
        """
        seconds = max(0.0, self.deadline - self.io.now()) * _SHARE
        proxy = partial(
            GuardProxy,
            target,
            policy,
            self.check_site,
            self.choose_proxy,
            seconds,
            MAX_PAGE_BYTES,
        )
        work = _Work(self, target, seconds, proxy)
        try:
            return await self.io.call_blocking(work.run, alone=True, deadline=self.deadline)
        finally:
            work.stop()  # a cancelled call must not leave a browser


class _Work:
    """One page in one browser."""

    def __init__(
        self,
        renderer: Renderer,
        target: Target,
        seconds: float,
        make_proxy: Callable[[], GuardProxy],
    ) -> None:
        self._renderer = renderer
        self._target = target
        self._seconds = seconds
        self._make_proxy = make_proxy
        self._lock = threading.Lock()
        self._task: asyncio.Task[Rendered] | None = None
        self._is_stopped = False
        self._visits: list[Target] = []
        self._response: PageResponse | None = None

    def run(self) -> Rendered:
        """Render the page on an event loop of this thread."""
        # Other loops of Windows cannot start processes.
        loop_factory = getattr(asyncio, "ProactorEventLoop", None)
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            try:
                return runner.run(self._run())
            except (TimeoutError, asyncio.CancelledError):
                message = "the page did not finish loading in time; use another source"
                raise RequestTimeoutError(message) from None

    def stop(self) -> None:
        """Close the browser. Any thread may call this, at any time."""
        with self._lock:
            self._is_stopped = True
            if self._task is not None:
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)

    async def _run(self) -> Rendered:
        task = asyncio.current_task()
        with self._lock:
            if self._is_stopped:
                raise asyncio.CancelledError
            self._task = task
        try:
            async with asyncio.timeout(self._seconds), self._make_proxy() as proxy:
                return await self._start(proxy)
        finally:
            with self._lock:
                self._task = None

    async def _start(self, proxy: GuardProxy) -> Rendered:
        from playwright.async_api import Error, async_playwright  # noqa: PLC0415  # an extra

        async with async_playwright() as playwright:
            try:
                browser = await playwright.chromium.launch(
                    executable_path=self._renderer.executable,
                    chromium_sandbox=self._renderer.has_sandbox,
                    proxy={
                        "server": proxy.url,
                        "bypass": "<-loopback>",
                        "username": USER,
                        "password": proxy.password,
                    },
                    args=_ARGUMENTS,
                    env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
            except Error as error:
                raise _launch_error(self._renderer.executable, str(error)) from None
            try:
                context = await browser.new_context(accept_downloads=False, service_workers="block")
                await context.grant_permissions([])  # which denies all
                page = await context.new_page()
                self._watch(page, proxy)
                context.on("page", lambda other: other.close())
                return await self._load(page, proxy)
            except Error as error:
                raise self._error(proxy, str(error)) from None
            finally:
                with suppress(Error):
                    await browser.close()

    def _watch(self, page: Page, proxy: GuardProxy) -> None:
        def is_navigation(request: Request) -> bool:
            return request.is_navigation_request() and request.frame == page.main_frame

        def visit(request: Request) -> None:
            if is_navigation(request):
                try:
                    self._visit(request.url)
                except WebToolsError as error:
                    proxy.shut(error)

        def respond(response: PageResponse) -> None:
            if is_navigation(response.request):
                self._response = response

        def fail(request: Request) -> None:
            # A page that leads to another one aborts its own navigation.
            if is_navigation(request) and request.failure != "net::ERR_ABORTED":
                proxy.shut(self._error(proxy, request.failure or ""))

        page.on("request", visit)
        page.on("response", respond)
        page.on("requestfailed", fail)

    def _visit(self, url: str) -> None:
        """Check a navigation as `fetching` checks redirects."""
        if len(self._visits) > MAX_REDIRECTS:
            message = f"the site redirects more than {MAX_REDIRECTS} times; use another source"
            raise ProviderError(message)
        self._visits.append(follow(self._visits[-1], url) if self._visits else parse(url))

    async def _load(self, page: Page, proxy: GuardProxy) -> Rendered:
        from playwright.async_api import Error, TimeoutError  # noqa: A004, PLC0415

        seconds = self._seconds * 1000
        proxy.is_open = True
        await page.goto(self._target.url, wait_until="load", timeout=seconds)
        for attempt in range(1, _ATTEMPTS + 1):
            await page.wait_for_load_state("load", timeout=seconds)
            with suppress(TimeoutError):
                await page.wait_for_load_state("networkidle", timeout=_IDLE_SECONDS * 1000)
            if proxy.fault is not None:
                raise proxy.fault
            try:
                text, unread = await page.evaluate(_SERIALIZE)
                html = text.encode("utf-8", "replace")
                break
            except Error:
                if attempt == _ATTEMPTS:
                    raise
        response = self._response
        if proxy.fault is not None or response is None:
            raise proxy.fault or ProviderError("the page has no response")
        headers = {name.lower(): value for name, value in (await response.all_headers()).items()}
        if "html" in headers.get("content-type", "html"):
            headers["content-type"] = "text/html; charset=utf-8"
        else:  # what the browser makes of a text is not the text
            html = await response.body()
        is_start = len(html) > MAX_PAGE_BYTES
        read = Response(response.status, headers, html[:MAX_PAGE_BYTES], is_start=is_start)
        return Rendered(read, parse(page.url), list(_warnings(len(proxy.refused), unread)))

    def _error(self, proxy: GuardProxy, text: str) -> WebToolsError:
        last = (self._visits or [self._target])[-1]
        if error := proxy.fault or proxy.refused.get(last.site):
            return error
        if "Download is starting" in text:
            return ProviderError('the URL leads to a file, not to a page; "direct" reads it')
        code = _ERROR_CODE.search(text)
        message = f"the browser could not load the page ({code[0] if code else 'it failed'})"
        return with_fault(
            RequestError(f"{message}; check the URL or use another source"), Fault.ADVISED
        )


def _warnings(blocked: int, unread: list[str]) -> Iterator[str]:
    if blocked:
        yield f"connections of the page to {blocked} sites were blocked or failed"
    if unread:
        hosts = ", ".join(one_line(host)[:_LONGEST_HOST] for host in unread[:_MAX_FRAMES_NAMED])
        yield f"the page shows frames of other sites, which were not read: {hosts}"


def _launch_error(executable: str, text: str) -> ConfigError:
    remedy = "set the option executable to a current Chrome or Chromium"
    if _NO_SANDBOX.search(text):
        remedy = "its sandbox does not work for this user; run as a user who is not root, or, in a "
        remedy += "container for this alone, set the option noSandbox"
    return ConfigError(f'"{executable}" does not start: {remedy}.')
