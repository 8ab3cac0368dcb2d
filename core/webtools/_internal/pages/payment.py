"""Read what a site charges for a page, from a response that asks for money.

Three schemes are known: x402 (https://www.x402.org), the `crawler-price` of pay per crawl
(https://developers.cloudflare.com/ai-crawl-control), and the licences of RSL
(https://rslstandard.org).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import from_json

from webtools._internal.text.narrowing import is_list, is_object
from webtools.errors import Payment
from webtools.messages import Response

PAYMENT_REQUIRED = "payment_required"
_STATUS = 402
_ASKING = frozenset({401, 402, 403})  # statuses with which RSL asks for a licence
_MAX_BYTES = 64 * 1024
_PRICE = re.compile(r"\s*([A-Za-z]{3,10})\s+(\d{1,12}(?:\.\d{1,12})?)\s*", re.ASCII)
_AMOUNT = re.compile(r"\d{1,40}", re.ASCII)
_ASSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .:/-]{0,15}|0x[0-9a-fA-F]{40}", re.ASCII)
_LICENSE = re.compile(r"(?:^|,)\s*license\b", re.IGNORECASE)


def payment_of(response: Response) -> Payment | None:
    """Return what a response asks for, or None if it asks for no money."""
    headers = response.headers
    if response.status == _STATUS:
        return _crawler_price(headers) or _x402(response) or _license(headers) or Payment()
    return _license(headers) if response.status in _ASKING else None


def describe(payment: Payment) -> str:
    """Return the price in words, for messages."""
    if payment.price is None:
        return "an amount that it does not state"
    return f"{payment.price} {payment.currency or ''}".strip()


def _crawler_price(headers: Mapping[str, str]) -> Payment | None:
    match = _PRICE.fullmatch(headers.get("crawler-price", "")[:100])
    return Payment(match[2], match[1].upper(), "pay-per-crawl") if match else None


def _x402(response: Response) -> Payment | None:
    """Read the first offer: version 2 sends it in a header, version 1 in the body."""
    header = response.headers.get("payment-required", "")[:_MAX_BYTES]
    with suppress(ValueError, RecursionError):
        text = base64.b64decode(header + "===") if header else response.body[:_MAX_BYTES]
        offers: Any = from_json(text)
        if not is_object(offers) or not is_list(offers.get("accepts")):
            return None
        offer: Any = next(filter(is_object, offers["accepts"]), {})
        amount = str(offer.get("amount", offer.get("maxAmountRequired", "")))
        if not _AMOUNT.fullmatch(amount):
            return Payment(scheme="x402")
        extra: Any = offer.get("extra")
        name = (is_object(extra) and extra.get("name")) or offer.get("asset")
        asset = name if isinstance(name, str) and _ASSET.fullmatch(name) else "an unnamed asset"
        return Payment(amount, f"atomic units of {asset}", "x402")
    return None


def _license(headers: Mapping[str, str]) -> Payment | None:
    asks = _LICENSE.search(headers.get("www-authenticate", "")[:2000])
    return Payment(scheme="rsl") if asks else None
