"""Write answers from sources, and check the claims of an answer.

`verify` gives each claim of a text a status: `quoted`, `uncertain` or `unsupported`. The summary
omits unsupported claims. The answers of `web-deep` are checked in the same way. To write them with
your own code, pass a function as `synthesis`. It takes a `SynthesisQuery` and returns a text, in
which `[n]` cites a source, or a `Draft`.

    from webtools.synthesis import Source, verify

    page = Source(1, "Pool", "https://news.example/pool", "The pool opened on Saturday.")
    print(verify("The pool opened on Saturday. [1]", [page]).claims)
"""

from webtools._internal.grounding.verification import verify
from webtools._internal.operations.answer_verification import ModelVerifier, Verdict, Verifier
from webtools._internal.operations.research.synthesizers import (
    ExtractiveSynthesizer,
    ModelSynthesizer,
)
from webtools.providers.drafts import Draft, SynthesisFunction, Synthesizer, SynthesizerLike
from webtools.providers.protocols import Source, SynthesisQuery
from webtools.results import Claim, Quotation, Verified

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
