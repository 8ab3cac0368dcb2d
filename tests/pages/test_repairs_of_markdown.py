"""Markup that page authors write, as Markdown."""

from __future__ import annotations

import pytest
from test_pages import page, text

ROW = "<tr><th>Sign</th><th>Meaning</th></tr>"
HEAD = "| Sign | Meaning |\n|---|---|\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><span>2/3</span> <span>cup</span>\n<span>flour</span></p>", "2/3 cup flour"),
        ("<p>x<sup>2</sup> + 10<sup>-3</sup>", "x^2 + 10^-3"),
        ("<p>e<sup>n+1</sup> and 1<sup>st</sup>", "e^(n+1) and 1st"),
        ("<p>2<sup>1</sup>/<sub>2</sub> cups", "2 1/2 cups"),
        ("<p>Take <sup>1</sup>\u2044<sub>4</sub> of it", "Take 1\u20444 of it"),
        ("<p>漢<ruby>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>を", "漢字を"),
        ("<p># of berths: four</p>", "\\# of berths: four"),
        ("<p>First<br>## second</p>", "First\n\\## second"),
        ("<p>C# and #tags stay</p>", "C# and #tags stay"),
        (
            "<ul><li><input type=checkbox checked> Tar<li><input type=checkbox> Paint",
            "- [x] Tar\n- [ ] Paint",
        ),
        ("<textarea readonly>SELECT *\nFROM berths</textarea>", "```\nSELECT *\nFROM berths\n```"),
        ("<h3><button>How deep is it?</button></h3><p>Six metres.", "### How deep is it?\n\nSix"),
        ("<button aria-expanded=false>Depths</button><p>Six metres.", "Depths\n\nSix"),
        ("<p>Press <button>Start</button> and wait.", "Press Start and wait."),
        ("<label for=t1>conda</label><pre>a</pre>", "conda\n\n```\na\n```"),
        ("<x-title>Tides</x-title><x-text>They vary.</x-text>", "Tides\n\nThey vary."),
        ("<p>At <local-time>noon</local-time> sharp", "At noon sharp"),
        ("<h2><div>Tides</div></h2>", "## Tides"),
        (f"<table>{ROW}<tr><td>x | y<td><code>a|b</code></table>", f"{HEAD}| x \\| y | `a\\|b` |"),
        (f"<table>{ROW}<tr><td><pre>ls -l</pre><td>List</table>", f"{HEAD}| `ls -l` | List |"),
        (f"<table>{ROW}<tr><th><h4>A</h4><td><p>One.<p>Two.</table>", f"{HEAD}| A | One. Two. |"),
        (
            f"<table>{ROW}<tr><td>a<td><ul><li>b<li>c</ul></table>",
            f"{HEAD}| a | b; c |",
        ),
        (
            f"<table>{ROW}<tr><td>a<td><table><tr><td>1<td>2</table></table>",
            f"{HEAD}| a | 1, 2 |",
        ),
        (
            "<pre><code class='language-sh line-numbers'>ls\ncd</code></pre>",
            "```sh\nls\ncd\n```",
        ),
        (
            (
                "<div class=fragment><div class=line><span class=lineno>1</span>int a;"
                "</div><div class=line><span class=comment>// b</span></div></div>"
            ),
            "```\nint a;\n// b\n```",
        ),
        (
            "<pre>a = 1 <span class=comment># one</span>\n<b class=comments># two</b></pre>",
            "```\na = 1 # one\n# two\n```",
        ),
        ("<p>So <script type='math/tex'>a < b^2</script> holds.", "So $a < b^2$ holds."),
        (
            "<p><math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>",
            "a/(b+1)",
        ),
        (
            (
                "<p><math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mo>=</mo><msqrt><mi>y</mi>"
                "</msqrt></math>"
            ),
            "x_i^2=√(y)",
        ),
    ],
)
def test_markup_is_written_as_a_reader_sees_it(html: str, expected: str) -> None:
    assert expected in text(f"<div>{html}</div>")


def test_manuals_of_gnu_keep_their_headings_and_terms() -> None:
    body = "<h3>Tides</h3><dl><dt>ebb</dt><dd>It falls.</dd></dl><p>The end of it all is near.</p>"
    for generator in ("texi2any", "texi2html 1.82", "makeinfo 6.8"):
        markdown = page(body, head=f"<meta name=generator content='{generator}'>").text
        assert "### Tides\n\nebb\n: It falls." in markdown


def test_the_author_of_a_reply_is_not_that_of_the_page() -> None:
    body = "<div class=reply><span class=author>Petra Lund</span> Well said, I agree with it.</div>"
    assert page(f"<main><p>{'The tide falls at noon. ' * 9}</p></main>{body}").author is None
