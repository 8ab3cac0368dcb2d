"""Write answers from sources, and check the claims of an answer.

`verify` gives each claim of a text a status: `quoted`, `uncertain` or `unsupported`. The summary
omits unsupported claims. The answers of `web-deep` are checked in the same way. To write them with
your own code, pass a function as `synthesis`. It takes a `SynthesisQuery` and returns a text, in
which `[n]` cites a source, or a `Draft`.

    from webtools.synthesis import Source, verify

    page = Source(1, "Pool", "https://news.example/pool", "The pool opened on Saturday.")
    print(verify("The pool opened on Saturday. [1]", [page]).claims)
"""

from collections.abc import Sequence

from webtools._internal.grounding.verification import HasText, Review
from webtools.providers.drafts import Draft, SynthesisFunction, Synthesizer, SynthesizerLike
from webtools.providers.protocols import Source, SynthesisQuery
from webtools.results import Claim, Quotation, Verified
from webtools.synthesizers import ExtractiveSynthesizer, ModelSynthesizer
from webtools.verifiers import ModelVerifier, Verdict, Verifier

__all__ = [
    "Claim",
    "Draft",
    "ExtractiveSynthesizer",
    "ModelSynthesizer",
    "ModelVerifier",
    "Quotation",
    "Source",
    "SynthesisFunction",
    "SynthesisQuery",
    "Synthesizer",
    "SynthesizerLike",
    "Verdict",
    "Verified",
    "Verifier",
    "verify",
]


def verify(text: str, sources: Sequence[HasText]) -> Verified:
    """Check the claims of an answer against the sources that they cite.

    Args:
        text: Prose or a list, from any model. `[n]` cites the n-th source, links cite by URL.
        sources: The sources that it may cite.

    Returns:
        The claims with their status, and the text without its unsupported claims.
    """
    return Review.of_text(text, sources).verified()
