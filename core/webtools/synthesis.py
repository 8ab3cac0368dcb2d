"""What it takes to write the answers of `web-deep` oneself: any object with `name` and `draft`.

Whatever a synthesizer writes is checked: a claim stays only if it cites a source that bears it out.
"""

from webtools.operations.research.synthesizers import ModelSynthesizer
from webtools.providers.drafts import Draft, Synthesizer
from webtools.providers.protocols import Source, SynthesisQuery

__all__ = ["Draft", "ModelSynthesizer", "Source", "SynthesisQuery", "Synthesizer"]
