"""Pages are cut into passages along their structure."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from webtools._internal.grounding.segmentation import cut


def slices(text: str, most: int = 600) -> list[str]:
    return [text[span.start : span.end] for span in cut(text, most)]


def holding(text: str, part: str, most: int = 600) -> str:
    return next(item for item in slices(text, most) if part in item)


def test_code_stays_in_one_piece_with_its_introduction() -> None:
    body = "\n\n".join(f"step_{number}()" for number in range(120))
    text = f"{'More words follow. ' * 30}\n\nCall the steps in turn:\n\n```\n{body}\n```\n\nDone."
    result = holding(text, "step_0()")
    assert result.startswith("Call the steps in turn:")
    assert "step_119()\n```" in result


def test_the_introduction_of_very_long_code_is_in_a_passage() -> None:
    text = f"Words.\n\nCall the steps in turn:\n\n```\n{'step()' * 2000}\n```\n"
    assert holding(text, "Call the steps").startswith("Call the steps in turn:\n\n```")


TEXTS = st.lists(
    st.sampled_from(
        ["# A", "## B", "word. " * 30, "", "- item", "```", "    code", ": text", "| a | b |",
         "|---|---|", "term", "===", "---", "日本語。", "1. x", "\t", "> q", "~~~"]
    )
).map("\n".join)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_passages_are_slices_in_order_that_leave_out_no_words(text: str) -> None:
    spans = cut(text)
    assert all(span.start < span.end for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    kept = "".join(text[span.start : span.end] for span in spans)
    assert kept.count("word.") == text.count("word.")
