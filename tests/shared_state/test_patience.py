"""How long the first provider may take, and which time-outs speak against a provider.

The processes here sleep without waiting: `Retry-After` alone moves their clocks.
"""

from __future__ import annotations

from shared_instances import Shared
from webtools_calls import Call, search

CHAIN = ("kagi", "brave", "perplexity", "exa")


def test_a_summary_waits_longer_for_its_first_provider_than_a_search(on_file: Shared) -> None:
    kagi = next(e for e in on_file.sandbox.config()["providers"] if e["name"] == "kagi")
    worker = on_file.worker("kagi", frozen=True, providers=[kagi, {**kagi, "name": "second"}])
    page = Call("summarize", f"{on_file.sandbox.docs_url}/library/json.html")
    on_file.sandbox.fault(provider="kagi", status=503, retry_after=20)
    assert worker.run(page).attempts == [["kagi", True]]
    on_file.sandbox.fault(provider="kagi", status=503, retry_after=20)
    assert worker.run(search("heap queue")).attempts == [["kagi", False], ["second", True]]


def test_a_time_out_after_five_seconds_speaks_against_a_provider(on_file: Shared) -> None:
    fault = on_file.sandbox.fault
    worker = on_file.worker(*CHAIN, frozen=True)
    for _ in range(3):  # the others leave five of 30 seconds to Exa, which does not respond
        on_file.sandbox.clear_faults()
        for name, seconds in zip(CHAIN, (14.5, 7.4, 3.1, 4.7), strict=True):
            fault(provider=name, status=503, retry_after=seconds)
        for name in CHAIN[:-1]:
            fault(provider=name, status=500)
        fault(provider="exa", delay=60.0, times=None)
        assert "exa: Network error" in worker.run(search("heap queue")).message
    on_file.sandbox.clear_faults()
    # With all circuits open the first provider is tried anyway; otherwise Exa would serve.
    assert worker.run(search("heap queue")).provider == "kagi"
