"""What a source retracts, attributes or takes back is not quoted; neutral text changes nothing."""

from __future__ import annotations

import pytest

from webtools.synthesis import Source, verify

STATEMENT = "The council of Vellmouth opened the new tidal pool in 2015."


def status(text: str, title: str = "News") -> str:
    """Return the status of the statement, which replaces `{}`."""
    source = Source(1, title, "https://a.example/1", text.replace("{}", STATEMENT))
    [claim] = verify(f"{STATEMENT} [1]", [source]).claims
    return claim.status


@pytest.mark.parametrize(
    "text",
    [
        "{} This is false.",
        "It is not true that\n\n- {}\n- The ferry sank.",
        "{} That is a myth.",
        "{} No one believes that.",
        "{} Not so.",
        "{} The opposite is true.",
        "{} So the legend goes.",
        "{} The claim was debunked.",
        "{} It isn't.",
        "{} Really?",
        "{} Allegedly.",
        "{} ... says no one at all.",
        "{} We no longer stand by the statement above. It was wrong.",
        "{} Das stimmt so nicht.",
        "{} Ce n'est pas vrai.",
        "{} これは間違いです。",
        "- {} ❌\n- The museum was full. ✓",
        "{} 🤥",
        "{} /s",
        "{} [citation needed]",
        "{} [*source?*]",
        "Critics say:\n\n{}",
        "The mayor said: “Rain fell. {} It was cold.”",
        "Myth:\n\n{}",
        "Claim\n\n{}\n\nVerdict: unproven",
        "Hypothesis 2. {}",
        "Sponsored content.\n\n{}",
        "The following claims are false:\n\n- Rain fell.\n- {}",
        "Nobody has shown that:\n\n- Rain fell.\n- {}",  # plain-words: data
        "No one has shown that:\n\n- Rain fell.\n- {}",
        "Here is what the model made up. {}",
        "In the film, winter never ends. {}",
        "Under the assumptions of this simulation, rain is free. {}",
        "Imagine the year 3000. {}",
        "# Common myths\n\n{}",
        "# Retraction notice\n\n{}",
        "# Guidance of 1990 (superseded)\n\n{}",
        "~~Rain fell. {} It was cold.~~",
    ],
)
def test_a_sentence_that_its_source_does_not_state_itself_is_uncertain(text: str) -> None:
    assert status(text) == "uncertain"
    assert status(f"Rain fell on Tuesday.\n\n{text}\n\nThe museum was full.") == "uncertain"


@pytest.mark.parametrize(
    "title", ["Fact check: the pool of Vellmouth", "RETRACTED: The pool", "Satire", "7 myths"]
)
def test_a_page_with_a_retracting_title_is_not_quoted(title: str) -> None:
    assert status("Rain fell. {} It was cold.", title) == "uncertain"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{} After it.",
        "{} The report was out a week later.",
        "{} It has no pumps.",
        "{} It did not rain.",
        "{} Critics praised the design.",
        "{} This function does not raise an error.",
        "{} This was the third such case in a year.",
        "The town has two bridges. {} It can be reached by bus.",
        "Rain fell in the night. {} The work took three years.",
        "The facts:\n\n- {}\n- The museum was full.",
        "The following functions are defined.\n\n{}",
        "“Rain fell,” said the mayor. {} It was cold.",
        'The board is 5" wide. {} It was cold.',
        "# News\n\n{}\n\n## Advertisement",
        "The film was made in 1980. {} It was cold.",
        "{} Return `True` if it is open, `False` otherwise.",
        "--[no-]reject-shallow::\n\n{}\n\n--[no-]verify::",
        "The tag `<!-- x -->` is a comment. {} It was cold.",
    ],
)
def test_a_sentence_between_neutral_ones_is_quoted(text: str) -> None:
    assert status(text) == "quoted"
