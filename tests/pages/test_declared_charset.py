"""A page's own declaration decides between charsets that would fit."""

from __future__ import annotations

import pytest

from webtools import WebTools
from webtools_sandbox import SandboxServer

WORD = "Привет"
DECLARATIONS = {
    "charset": '<meta charset="koi8-r">',
    "http-equiv": '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
    "both": '<meta charset="koi8-r" http-equiv="content-type" content="text/html; charset=cp1251">',
    "charset of another meta": '<meta name="note" content="charset=cp1251"><meta charset="koi8-r">',
}


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_the_declared_charset_decides(webtools_sandbox: SandboxServer, declaration: str) -> None:
    page = f"<html><head>{DECLARATIONS[declaration]}<title>T</title></head><body><p>{WORD}</p>"
    headers = {"Content-Type": "text/html"}
    webtools_sandbox.fault(provider="pages", body=page.encode("koi8-r"), headers=headers)
    host = webtools_sandbox.docs_url.split("/")[2]
    own = {"name": "own", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    config = {**webtools_sandbox.config(), "providers": [own], "defaultProvider": "own"}
    with WebTools(config) as web:
        [fetched] = web.fetch(f"http://{host}/docs/library/page.html").pages
    assert fetched.text == WORD
