"""Read pages with one reader, as JSON lines: `body` (base64) and `url`; `text` and `seconds`.

A script that imports nothing of the benchmarks, so an older checkout can run it as well.
"""

import base64
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress

Reader = Callable[[bytes, str], str]


def webtools() -> Reader:
    from webtools._internal.pages.reading import Source, read
    from webtools.errors import WebToolsError

    def read_page(body: bytes, url: str) -> str:
        try:
            content = read(Source(body, "text/html", url, url))
        except WebToolsError:
            return ""
        return f"{' '.join((content.title or '').split())}\n{content.text}"

    return read_page


def trafilatura() -> Reader:
    from trafilatura import extract

    options = {"output_format": "markdown", "include_links": True, "include_comments": False}
    return lambda body, url: "\n" + (extract(body, url=url, **options) or "")


def markitdown() -> Reader:
    import io

    from markitdown import MarkItDown, StreamInfo

    converter = MarkItDown(enable_plugins=False)

    def read_page(body: bytes, url: str) -> str:
        info = StreamInfo(mimetype="text/html", extension=".html", url=url)
        found = converter.convert_stream(io.BytesIO(body), stream_info=info)
        return f"{' '.join((found.title or '').split())}\n{found.markdown}"

    return read_page


def html_to_markdown() -> Reader:
    from html_to_markdown import convert

    return lambda body, _url: "\n" + (convert(body.decode("utf-8", "replace")).content or "")


READERS = {
    "today": webtools,
    "base": webtools,
    "trafilatura": trafilatura,
    "MarkItDown": markitdown,
    "html-to-markdown": html_to_markdown,
}


def main(name: str) -> None:
    """Print what the reader is imported from, then an answer to each line."""
    try:
        read_page = READERS[name]()
        read_page(b"<h1>A</h1><p>The first page loads modules.</p>", "http://a.example/")
    except ImportError as error:
        print(json.dumps({"absent": str(error)}), flush=True)
        return
    origin = sys.modules.get("webtools")
    print(json.dumps({"origin": getattr(origin, "__file__", None)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        body = base64.b64decode(request["body"])
        title = text = ""
        times: list[float] = []
        for _ in range(2):  # the first reading can load modules
            start = time.process_time()
            with suppress(Exception):  # a reader that fails has no text
                title, _, text = read_page(body, request["url"]).partition("\n")
            times.append(time.process_time() - start)
        seconds = min(times)
        print(json.dumps({"title": title, "text": text, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
