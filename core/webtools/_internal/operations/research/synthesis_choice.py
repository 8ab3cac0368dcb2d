"""Choose the synthesizer of a call: one of the caller, of a provider, or quotations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from webtools._internal.io.runtime import IO
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.circuit_breaking import CircuitOpenError
from webtools._internal.pipeline.requests import request
from webtools._internal.pipeline.tool_call import Call
from webtools.config import Accounts
from webtools.errors import InputError, UnavailableError
from webtools.inputs.argument_values import shown
from webtools.inputs.tool_inputs import ResearchInput
from webtools.providers import PROVIDERS, Account
from webtools.providers.drafts import Draft, Synthesizer
from webtools.providers.protocols import Synthesis, SynthesisQuery
from webtools.synthesizers import EXTRACTIVE, sources_to_read


@dataclass(frozen=True, slots=True)
class ProviderSynthesizer:
    """Has a provider's API write the answer, such as Perplexity's."""

    account: Account
    call: Call

    @property
    def name(self) -> str:
        """The provider's configured name."""
        return self.account.name

    async def draft(self, query: SynthesisQuery, deadline: float, _io: IO, /) -> Draft:
        """Request an answer.

        Raises:
            WebToolsError: The API failed, returned no answer, or is skipped.
        """
        try:
            answer = await self._request(query, deadline)
        except CircuitOpenError as error:
            raise UnavailableError(str(error), provider=self.name) from None
        return Draft(answer.text, answer.cost, answer.warnings)

    async def _request(self, query: SynthesisQuery, deadline: float) -> Synthesis:
        read = replace(query, sources=sources_to_read(query), passages=())
        api_call = ApiCall(self.call, self.account, read, deadline, obeys_circuit=True)
        answer: Synthesis = (await request(api_call)).value
        return answer


def choose_synthesizer(arguments: ResearchInput, call: Call) -> Synthesizer | None:
    """Return the synthesizer of a call; None for no answer.

    Raises:
        ConfigError: No configured provider can write answers.
        InputError: There is no such synthesizer.
    """
    passed, configured = call.options.synthesizer, call.accounts.config.research.synthesis
    requested = arguments.synthesis.strip().lower()
    if not requested and arguments.command != "web-deep":
        return None
    if passed is not None and requested in ("", "llm", passed.name):
        return passed
    match requested or configured or EXTRACTIVE.name:
        case "extractive":
            return EXTRACTIVE
        case "none":
            return None
        case "llm":
            fault = "needs a model. Pass a synthesizer, such as ChatModelSynthesizer(model)"
        case writer:
            if account := _find_writer(writer, call.accounts):
                return ProviderSynthesizer(account, call)
            names = (EXTRACTIVE.name, *_writing_types(), "llm", "none")
            fault = f"is unknown. Use one of: {', '.join(names)}"
    raise InputError(f"synthesis {shown(arguments.synthesis)} {fault}.")


def _find_writer(name: str, accounts: Accounts) -> Account | None:
    """Return the provider of a name or type that writes answers; None for an unknown name.

    Raises:
        ConfigError: No provider of that type is configured.
    """
    writers = [account for account in accounts.accounts if PROVIDERS[account.type].synthesize]
    by_name = (account for account in writers if account.name.lower() == name)
    by_type = [account for account in writers if account.type == name]
    by_type.sort(key=lambda account: account.name != accounts.config.default_provider)
    writer = next(by_name, None) or next(iter(by_type), None)
    if writer is None and name in _writing_types():
        return accounts.select("synthesize")
    return writer


def _writing_types() -> list[str]:
    return [kind for kind, services in PROVIDERS.items() if services.synthesize]
