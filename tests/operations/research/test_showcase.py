"""The question of the README is answered by the sandbox as it is installed."""

from __future__ import annotations

import re

import pytest

from webtools import WebTools
from webtools._internal.display.outline import Clip, Statement
from webtools.formatting import page_content
from webtools.results import Page, Passage
from webtools_sandbox import SandboxServer


def test_the_question_of_the_readme_gets_a_right_answer() -> None:
    with SandboxServer() as server, WebTools(config=server.config()) as web:
        response = web.research("How do I read a zip file in Python?", command="web-deep")
    assert response.synthesis is not None
    assert (
        "zipfile.ZipFile(" in response.synthesis.claims[0].text + response.synthesis.claims[1].text
    )
    assert len(response.synthesis.claims) <= 3
    assert response.meta.confidence in {"low", "medium"}


@pytest.mark.parametrize("prose", ["", "To swim, write this:\n\n"])
def test_a_mark_does_not_stand_alone_above_code(prose: str) -> None:
    shown = Statement(Clip(f"{prose}```\nswim()\n```"), [1]).cited
    assert shown.count("[1]") == 1
    above = re.split("```", shown, maxsplit=1)[0].strip()
    assert above != "[1]"


def test_passages_are_marked_as_passages() -> None:
    passages = [Passage(text="The pool opened."), Passage(text="It costs 3 euros.")]
    page = Page(url="https://a.example/", passages=passages, passages_by="exa")
    text = page_content(page)
    assert text.index("assages") < text.index("The pool opened.") < text.index("[…]")
    assert text.index("[…]") < text.index("It costs 3 euros.")
    whole = page.model_copy(update={"passages": passages[:1], "passages_by": "webtools"})
    assert page_content(whole) == "The pool opened."
