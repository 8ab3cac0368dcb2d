"""What it takes to write the answers of `web-deep` oneself: any object with `name` and `draft`.

Whatever a synthesizer writes is checked: a claim stays only if it cites a source that bears it out.
`verify` checks any other text the same way.

    from webtools.synthesis import Source, verify

    page = Source(1, "Pool", "https://news.example/pool", "The pool opened on Saturday.")
    print(verify("The pool opened on Saturday. [1]", [page]).claims)
"""

from webtools.grounding.verification import verify
from webtools.operations.research.synthesizers import ExtractiveSynthesizer, ModelSynthesizer
from webtools.operations.verification import ModelVerifier, Verdict, Verifier
from webtools.providers.drafts import Draft, Synthesizer
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
    "SynthesisQuery",
    "Synthesizer",
    "Verdict",
    "Verified",
    "Verifier",
    "verify",
]
