"""Calls as they were recorded: what comes out, blocking and async, of the same cassette."""

# ruff: noqa: E501  the expectations are as inline-snapshot writes them, also after `make record`

from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from playing import Play, plays, told
from recording import CASSETTES, SCENARIOS


def test_every_recorded_call_has_its_cassette_and_no_cassette_is_left_over() -> None:
    assert {path.stem for path in CASSETTES.glob("*.yaml")} == set(SCENARIOS)


@pytest.mark.parametrize("name", [pytest.param(each, marks=plays(each)) for each in SCENARIOS])
def test_a_recorded_call_has_its_result(name: str, play: Play) -> None:
    assert told(play) == OUTCOMES[name]


# What came of each: a line for every result or page, then what there is to say.
OUTCOMES = snapshot(
    {
        "exa-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | Petra Lund | 2026-05-03 10:20:00+00:00",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "https://docs.example/library/tarfile.html | tarfile — Read from and write to tar format archives | Lars Gustäbel (lars@gustaebel.de)",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | Sven Abara | 2026-07-14 04:40:00+00:00",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | Mira Oyelaran | 2026-08-03 12:00:00+00:00",
            "cost: 0.014",
        ],
        "exa-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | Petra Lund | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 225",
            "filters: include_domains native, start_published_date native, end_published_date native, category native",
            "cost: 0.007",
        ],
        "exa-search-invalid": [
            "BadRequestError (400): Exa API returned HTTP 400: numResults: at most 100 results (NUM_RESULTS_EXCEEDED). Change the request; the same one will fail again."
        ],
        "exa-search-overloaded": [
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | Sven Abara | 2026-07-14 04:40:00+00:00",
            "cost: 0.007",
        ],
        "exa-search-wrong-key": [
            'AuthenticationError (401): Exa API returned HTTP 401: Invalid API key (INVALID_API_KEY). Check the API key of provider "exa".'
        ],
        "exa-search-no-credit": [
            'QuotaError (402): Exa API returned HTTP 402: You have exhausted your credits. Add credits at the dashboard to continue (NO_MORE_CREDITS). Top up the account of provider "exa" or use another provider.'
        ],
        "exa-contents": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | Petra Lund | 2026-05-03 10:20:00+00:00",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 111",
            "  summary: 'Farmers in the dry south have borrowed seeds from the Northr' of 254",
            "https://docs.example/gone.html | CRAWL_NOT_FOUND (HTTP 404)",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each | 2026-08-19 00:00:00+00:00",
            "  text: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 115",
            "  summary: 'Eleven thousand volunteers counted wild bees in July. They f' of 226",
            "cost: 0.004",
        ],
        "exa-contents-invalid": [
            "BadRequestError (400): Exa API returned HTTP 400: maxCharacters: expected a positive integer (INVALID_REQUEST_BODY). Change the request; the same one will fail again."
        ],
        "exa-contents-all-failed": [
            "ProviderError (None): The page could not be fetched: https://docs.example/gone.html: CRAWL_NOT_FOUND (HTTP 404). Check the URLs or try other ones."
        ],
        "exa-contents-wrong-key": [
            'AuthenticationError (401): Exa API returned HTTP 401: Invalid API key (INVALID_API_KEY). Check the API key of provider "exa".'
        ],
        "exa-contents-no-credit": [
            'QuotaError (402): Exa API returned HTTP 402: You have exhausted your credits. Add credits at the dashboard to continue (NO_MORE_CREDITS). Top up the account of provider "exa" or use another provider.'
        ],
        "exa-contents-question": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | Petra Lund | 2026-05-03 10:20:00+00:00",
            "  passage by exa: 'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "  passage by exa: 'They promise to return twice the amount after the harvest.' of 58",
            "  passage by exa: 'The loan covers eleven old kinds of barley which need little' of 67",
            "https://docs.example/gone.html | CRAWL_NOT_FOUND (HTTP 404)",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each | 2026-08-19 00:00:00+00:00",
            "  passage by exa: 'Eleven thousand volunteers counted wild bees in July.' of 53",
            "  passage by exa: 'They found 214 kinds, nine fewer than in the census before, ' of 87",
            "  passage by exa: 'Researchers explain the result by the wet spring.' of 49",
            "cost: 0.002",
        ],
        "exa-search-similar": [
            "0.99 | https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  text: 'Photographs from the opening of the seed archive in Northrop' of 172",
            "0.98 | https://docs.example/library/random.html | random — Random variable generators",
            "  text: '# random — Random variable generators\\n\\nRandom variable gener' of 9998",
            "filters: content native, similar native",
            "cost: 0.007",
        ],
        "kagi-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/tarfile.html | tarfile — Read from and write to tar format archives",
            "  'Informational class which holds the details about an archive' of 96",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 04:40:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | 2026-08-03 12:00:00+00:00",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 101",
            "cost: 0.024 (estimate)",
        ],
        "kagi-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "filters: include_domains native, start_published_date native, end_published_date native, category native",
            "cost: 0.012 (estimate)",
        ],
        "kagi-search-invalid": [
            "BadRequestError (400): Kagi API returned HTTP 400: Must be between 1 and 1024 (search.limit_invalid, limit). Change the request; the same one will fail again."
        ],
        "kagi-search-rate-limited": [
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 04:40:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "cost: 0.012 (estimate)",
        ],
        "kagi-search-html": [
            "UnavailableError (502): Kagi API returned HTTP 502. Try again later or use another provider."
        ],
        "kagi-search-wrong-key": [
            'AuthenticationError (400): Kagi API returned HTTP 400: Token signature failed to verify. Check the API key of provider "kagi": if it is a v0 key, set options.searchApi to "v0".'
        ],
        "kagi-search-no-credit": [
            'QuotaError (402): Kagi API returned HTTP 402: Insufficient credit to perform this request. Top up the account of provider "kagi" or use another provider.'
        ],
        "kagi-search-content": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  '# Northrop seed archive lends its first seeds to farmers Far' of 298",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 347",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "  text: 'Photographs from the opening of the seed archive in Northrop' of 172",
            "filters: country native, safe_search native, page native, content native",
            "cost: 0.02 (estimate)",
        ],
        "kagi-contents": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 111",
            "https://docs.example/gone.html | No data from crawlers",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each",
            "  text: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 115",
            "warning: https://news.example/2026/05/seed-archive.html: the first 111 of 347 characters.",
            "warning: https://news.example/2026/08/bee-census.html: the first 115 of 284 characters.",
            "cost: 0.008 (estimate)",
        ],
        "kagi-contents-all-failed": [
            "ProviderError (None): The page could not be fetched: https://docs.example/gone.html: No data from crawlers. Check the URLs or try other ones."
        ],
        "kagi-contents-wrong-key": [
            'AuthenticationError (400): Kagi API returned HTTP 400: Token signature failed to verify. Check the API key of provider "kagi": pages need a v1 key.'
        ],
        "kagi-contents-no-credit": [
            'QuotaError (402): Kagi API returned HTTP 402: Insufficient credit to perform this request. Top up the account of provider "kagi" or use another provider.'
        ],
        "kagi-v0-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/tarfile.html | tarfile — Read from and write to tar format archives",
            "  'Informational class which holds the details about an archive' of 96",
            "cost: 0.025 (estimate)",
        ],
        "kagi-v0-search-wrong-key": [
            'AuthenticationError (401): Kagi API returned HTTP 401: Unauthorized. Check the API key of provider "kagi": if it is a v1 key, set options.searchApi to "v1".'
        ],
        "kagi-v0-search-no-credit": [
            'QuotaError (400): Kagi API returned HTTP 400: Insufficient credit to perform this request. Top up the account of provider "kagi" or use another provider.'
        ],
        "kagi-summary": [
            "summary by cecil, 128 tokens",
            "A mock returns what its author believes an API returns. A recorded answer, a cassette, returns what the API sent. Recordings age, so they should say when and how they were made. A test that plays only a part of its cassette should fail.",
            "cost: 0.00384 (estimate)",
        ],
        "kagi-summary-takeaway": [
            "takeaway by agnes, 147 tokens",
            "- A mock returns what its author believes an API returns.",
            "- A recorded answer, a cassette, returns what the API sent.",
            "- Recordings age, so they should say when and how they were made.",
            "- A test that plays only a part of its cassette should fail.",
            "- Keys must be removed before a recording is kept.",
            "cost: 0.00441 (estimate)",
        ],
        "kagi-summary-invalid": [
            "BadRequestError (400): Kagi API returned HTTP 400: Invalid parameter: engine. Change the request; the same one will fail again."
        ],
        "kagi-summary-unreadable": [
            "UnavailableError (500): Kagi API returned HTTP 500: Could not read the document. Try again later or use another provider."
        ],
        "kagi-summary-wrong-key": [
            'AuthenticationError (401): Kagi API returned HTTP 401: Unauthorized. Check the API key of provider "kagi": the summarizer is a v0 API, so a v1 key needs a v0 key beside it in options.v0ApiKey.'
        ],
        "kagi-summary-no-credit": [
            'QuotaError (400): Kagi API returned HTTP 400: Insufficient credit to perform this request. Top up the account of provider "kagi" or use another provider.'
        ],
        "brave-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | Petra Lund | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/tarfile.html | tarfile — Read from and write to tar format archives | Lars Gustäbel (lars@gustaebel.de)",
            "  'Informational class which holds the details about an archive' of 96",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | Sven Abara | 2026-07-14 04:40:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | Mira Oyelaran | 2026-08-03 12:00:00+00:00",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 101",
            "cost: 0.01 (estimate)",
        ],
        "brave-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "filters: include_domains native, start_published_date native, end_published_date native, category native",
            "cost: 0.005 (estimate)",
        ],
        "brave-search-german": [
            "filters: country native, language native, page native",
            "cost: 0.005 (estimate)",
        ],
        "brave-search-context": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 287",
            "  passage by brave: 'Farmers in the dry south have borrowed seeds from the Northr' of 289",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "  passage by brave: 'Photographs from the opening of the seed archive in Northrop' of 172",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  '## Read and write zip files To read a zip file, open it with' of 288",
            "  passage by brave: '## Read and write zip files\\n\\nTo read a zip file, open it wit' of 305",
            "  passage by brave: \"## `class zipfile.ZipFile(file, mode='r', compression=ZIP_ST\" of 391",
            "  passage by brave: '### `ZipFile.writestr(zinfo_or_arcname, data)`\\n\\nWrite text o' of 359",
            "filters: content native",
            "cost: 0.005 (estimate)",
        ],
        "brave-search-invalid": [
            "BadRequestError (422): Brave API returned HTTP 422: Unable to validate request parameter(s), query.country: Input should be one of ALL, AR, AT, AU, BE, BR, CA, CH, CL, CN, DE, DK, ES, FI, FR, GB, HK, ID, IN, IT, JP, KR, MX, MY, NL, NO, NZ, PH, PL, PT, RU, SA, SE, TR, TW, US, ZA. Change the request; the same one will fail again."
        ],
        "brave-search-rate-limited": [
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | Sven Abara | 2026-07-14 04:40:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "cost: 0.005 (estimate)",
        ],
        "brave-search-wrong-key": [
            'AuthenticationError (422): Brave API returned HTTP 422: The provided subscription token is invalid. Check the API key of provider "brave".'
        ],
        "brave-search-no-credit": [
            'QuotaError (429): Brave API returned HTTP 429: Request quota limit exceeded for plan. Top up the account of provider "brave" or use another provider.'
        ],
        "perplexity-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  '# Northrop seed archive lends its first seeds to farmers Far' of 252",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  '# Photographs from the opening of the seed archive in Northr' of 178",
            "https://docs.example/library/tarfile.html | tarfile — Read from and write to tar format archives",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 00:00:00+00:00",
            "  '# Lake below the Torvik glacier drains overnight, villages w' of 278",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | 2026-08-03 00:00:00+00:00",
            "  '# From phones to probes: the database that fits in one file ' of 300",
            "cost: 0.01 (estimate)",
        ],
        "perplexity-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  '# Northrop seed archive lends its first seeds to farmers Far' of 278",
            "filters: include_domains native, start_published_date native, end_published_date native, category unsupported",
            'warning: Filter category is not supported by provider "perplexity" and was not applied.',
            "cost: 0.005 (estimate)",
        ],
        "perplexity-search-invalid": [
            "BadRequestError (400): Perplexity API returned HTTP 400: validation failed: max_results must be between 1 and 20 (invalid_request). Change the request; the same one will fail again."
        ],
        "perplexity-search-wrong-key": [
            'AuthenticationError (401): Perplexity API returned HTTP 401: Invalid API key provided (invalid_api_key). Check the API key of provider "perplexity".'
        ],
        "perplexity-search-no-credit": [
            'QuotaError (402): Perplexity API returned HTTP 402: You have run out of credits (insufficient_quota). Top up the account of provider "perplexity" or use another provider.'
        ],
        "perplexity-synthesis": [
            "Vellmouth opened its tidal pool on Saturday [1].",
            "cost: Cost(usd=3.025e-05, is_estimate=False)",
        ],
        "perplexity-synthesis-wrong-key": [
            'AuthenticationError (401): Perplexity API returned HTTP 401: Invalid API key provided (invalid_api_key). Check the API key of provider "perplexity".'
        ],
        "perplexity-synthesis-no-credit": [
            'QuotaError (402): Perplexity API returned HTTP 402: You have run out of credits (insufficient_quota). Top up the account of provider "perplexity" or use another provider.'
        ],
        "tavily-search": [
            "0.99 | https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 191",
            "0.59 | https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "0.34 | https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 365",
            "0.99 | https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 195",
            "0.33 | https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 236",
            "cost: 0.016 (estimate)",
        ],
        "tavily-search-filtered": [
            "0.99 | https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 217",
            "filters: include_domains native, start_published_date native, end_published_date native, category native",
            "cost: 0.008 (estimate)",
        ],
        "tavily-search-invalid": [
            "BadRequestError (400): Tavily API returned HTTP 400: max_results: Input should be greater than or equal to 0, received -1. Change the request; the same one will fail again."
        ],
        "tavily-search-keyless": [
            "0.99 | https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 191",
            "0.59 | https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "0.34 | https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 365",
            "cost: 0.0",
        ],
        "tavily-search-german": [
            "0.99 | https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 191",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 347",
            "filters: country native, content native",
            "cost: 0.008 (estimate)",
        ],
        "tavily-search-wrong-key": [
            'AuthenticationError (401): Tavily API returned HTTP 401: Unauthorized: missing or invalid API key. Check the API key of provider "tavily".'
        ],
        "tavily-search-no-credit": [
            'QuotaError (432): Tavily API returned HTTP 432: This request exceeds your plan\'s set usage limit. Top up the account of provider "tavily" or use another provider.'
        ],
        "tavily-contents": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 111",
            "https://docs.example/gone.html | Failed to fetch url",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each",
            "  text: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 115",
            "warning: https://news.example/2026/05/seed-archive.html: the first 111 of 347 characters.",
            "warning: https://news.example/2026/08/bee-census.html: the first 115 of 284 characters.",
            "cost: 0.008 (estimate)",
        ],
        "tavily-contents-all-failed": [
            "ProviderError (None): The page could not be fetched: https://docs.example/gone.html: Failed to fetch url. Check the URLs or try other ones."
        ],
        "wikipedia-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 287",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'Read and write ZIP files. XXX references to utf-8 need furth' of 77",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 291",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 357",
            "cost: 0.0 (estimate)",
        ],
        "wikipedia-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 287",
            "filters: include_domains local, start_published_date local, end_published_date local, category unsupported",
            'warning: Filter category is not supported by provider "wikipedia" and was not applied.',
            "warning: 1 result carries no date, so the date filter could not check it.",
            "cost: 0.0 (estimate)",
        ],
        "wikipedia-search-page": [
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "filters: page native",
            "cost: 0.0 (estimate)",
        ],
        "wikipedia-search-invalid": [
            'BadRequestError (200): Wikipedia API error: Unrecognized value for parameter "gsrlimit": -1. Change the request; the same one will fail again.'
        ],
        "searxng-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 126",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 101",
            "warning: SearXNG had no answer of these engines: nobody (HTTP connection error).",
            "warning: SearXNG had no answer of these engines: nobody (Suspended: HTTP connection error).",
            "cost: 0.0 (estimate)",
        ],
        "searxng-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/11/prompt-injection-recipe.html | Recipe site hid orders to AI agents in its <footer>",
            "  'A recipe site carried a hidden sentence that told AI agents ' of 82",
            "https://news.example/2026/11/python-small-machines.html | Python programs start a third faster on small machines",
            "  'Programs in Python start a third faster on small machines wh' of 148",
            "filters: include_domains local, end_published_date local, category native",
            "warning: 3 results carry no date, so the date filter could not check them.",
            "cost: 0.0 (estimate)",
        ],
        "searxng-search-no-json": [
            'AuthenticationError (403): SearXNG API returned HTTP 403. The instance of provider "searxng" does not serve JSON: add json to search.formats in its settings.yml, or use one that does (most public ones do not).'
        ],
        "serper-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 126",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 00:00:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | 2026-08-03 00:00:00+00:00",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 101",
            "cost: 0.002 (estimate)",
        ],
        "serper-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "filters: include_domains native, start_published_date local, end_published_date local, category native",
            "cost: 0.001 (estimate)",
        ],
        "serper-search-invalid": [
            "BadRequestError (400): Serper API returned HTTP 400: num: Input should be less than or equal to 100, received 500. Change the request; the same one will fail again."
        ],
        "serper-search-rate-limited": [
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 00:00:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "cost: 0.001 (estimate)",
        ],
        "serper-search-wrong-key": [
            'AuthenticationError (403): Serper API returned HTTP 403: Unauthorized. Check the API key of provider "serper".'
        ],
        "serper-search-no-credit": [
            'QuotaError (400): Serper API returned HTTP 400: Not enough credits. Top up the account of provider "serper" or use another provider.'
        ],
        "you-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 160",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 129",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 191",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 04:40:00+00:00",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 132",
            "https://news.example/2026/11/fennick-caches.html | Agency halves its search bill with a cache that agents share | 2026-11-02 10:45:00+00:00",
            "  'The Fennick agency pays half as much for web search as in su' of 125",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | 2026-08-03 12:00:00+00:00",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 188",
            "cost: 0.01 (estimate)",
        ],
        "you-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 151",
            "filters: include_domains native, start_published_date native, end_published_date native, category unsupported",
            'warning: Filter category is not supported by provider "you" and was not applied.',
            "cost: 0.005 (estimate)",
        ],
        "you-search-german": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 160",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 347",
            "filters: country native, language native, page native, content native",
            "cost: 0.005 (estimate)",
        ],
        "you-search-keyless": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 160",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 129",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 191",
            "cost: 0.0",
        ],
        "you-search-invalid": [
            "BadRequestError (400): You.com API returned HTTP 400: country: String should match pattern '^[A-Za-z]{2}$', received 'Germany'. Change the request; the same one will fail again."
        ],
        "you-search-wrong-key": [
            'AuthenticationError (401): You.com API returned HTTP 401: Invalid or expired API key. Check the API key of provider "you".'
        ],
        "you-search-no-credit": [
            'QuotaError (402): You.com API returned HTTP 402: Payment required: add credits to your account. Top up the account of provider "you" or use another provider.'
        ],
        "firecrawl-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 126",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 69",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 101",
            "cost: 0.00332 (estimate)",
        ],
        "firecrawl-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "filters: include_domains native, start_published_date native, end_published_date native, category native",
            "cost: 0.00166 (estimate)",
        ],
        "firecrawl-search-content": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 347",
            "filters: country native, content native",
            "cost: 0.00249 (estimate)",
        ],
        "firecrawl-search-keyless": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 126",
            "cost: 0.0",
        ],
        "firecrawl-search-invalid": [
            "BadRequestError (400): Firecrawl API returned HTTP 400: country: String should match pattern '^[A-Za-z]{2}$', received 'Germany'. Change the request; the same one will fail again."
        ],
        "firecrawl-search-wrong-key": [
            'AuthenticationError (401): Firecrawl API returned HTTP 401: Unauthorized: Invalid token. Check the API key of provider "firecrawl".'
        ],
        "firecrawl-search-no-credit": [
            'QuotaError (402): Firecrawl API returned HTTP 402: Insufficient credits to perform this request. Top up the account of provider "firecrawl" or use another provider.'
        ],
        "firecrawl-contents": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 111",
            "https://docs.example/gone.html | HTTP 404",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each | 2026-08-19 00:00:00+00:00",
            "  text: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 115",
            "warning: https://news.example/2026/05/seed-archive.html: the first 111 of 347 characters.",
            "warning: https://news.example/2026/08/bee-census.html: the first 115 of 284 characters.",
            "cost: 0.00249 (estimate)",
        ],
        "firecrawl-contents-timeout": [
            "ProviderError (None): The page could not be fetched: https://docs.example/special/timeout.html: SCRAPE_TIMEOUT (The scrape operation timed out before completing.). Check the URLs or try other ones."
        ],
        "linkup-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 191",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 365",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 195",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file",
            "  'SQLite is in every phone, in aircraft and in a weather probe' of 236",
            "cost: 0.01 (estimate)",
        ],
        "linkup-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 217",
            "filters: include_domains native, start_published_date native, end_published_date native, category unsupported",
            'warning: Filter category is not supported by provider "linkup" and was not applied.',
            "warning: 1 result carries no date, so the date filter could not check it.",
            "cost: 0.005 (estimate)",
        ],
        "linkup-search-rate-limited": [
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time",
            "  'A lake below the Torvik glacier drained in six hours on Mond' of 195",
            "cost: 0.005 (estimate)",
        ],
        "linkup-search-invalid": [
            "BadRequestError (400): Linkup API returned HTTP 400: Validation failed, maxResults: Input should be greater than or equal to 1, received -1. Change the request; the same one will fail again."
        ],
        "linkup-search-wrong-key": [
            'AuthenticationError (401): Linkup API returned HTTP 401: Unauthorized action. Check the API key of provider "linkup".'
        ],
        "linkup-search-no-credit": [
            'QuotaError (429): Linkup API returned HTTP 429: Insufficient credits. Top up the account of provider "linkup" or use another provider.'
        ],
        "parallel-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  '# Northrop seed archive lends its first seeds to farmers Far' of 327",
            "https://news.example/2026/04/untitled-photo-page.html | news.example",
            "  'Photographs from the opening of the seed archive in Northrop' of 172",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  '## Read and write zip files To read a zip file, open it with' of 932",
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 00:00:00+00:00",
            "  '# Lake below the Torvik glacier drains overnight, villages w' of 325",
            "https://news.example/2026/08/sqlite-everywhere.html | From phones to probes: the database that fits in one file | 2026-08-03 00:00:00+00:00",
            "  '# From phones to probes: the database that fits in one file ' of 329",
            "cost: 0.01 (estimate)",
        ],
        "parallel-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  '# Northrop seed archive lends its first seeds to farmers Far' of 327",
            "filters: include_domains native, start_published_date native, end_published_date local, category unsupported",
            'warning: Filter category is not supported by provider "parallel" and was not applied.',
            "cost: 0.005 (estimate)",
        ],
        "parallel-search-content": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  '# Northrop seed archive lends its first seeds to farmers Far' of 344",
            "  passage by parallel: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 347",
            "filters: country native, content native",
            "cost: 0.005 (estimate)",
        ],
        "parallel-search-rate-limited": [
            "https://news.example/2026/07/glacier-lake.html | Lake below the Torvik glacier drains overnight, villages were warned in time | 2026-07-14 00:00:00+00:00",
            "  '# Lake below the Torvik glacier drains overnight, villages w' of 325",
            "cost: 0.005 (estimate)",
        ],
        "parallel-search-invalid": [
            "BadRequestError (422): Parallel API returned HTTP 422: Request validation error: advanced_settings.max_results: Input should be greater than or equal to 1, received -1. Change the request; the same one will fail again."
        ],
        "parallel-search-wrong-key": [
            'AuthenticationError (401): Parallel API returned HTTP 401: Unauthorized: invalid API key. Check the API key of provider "parallel".'
        ],
        "parallel-search-no-credit": [
            'QuotaError (402): Parallel API returned HTTP 402: Payment required: insufficient credit in account. Top up the account of provider "parallel" or use another provider.'
        ],
        "parallel-contents": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 120",
            "https://docs.example/gone.html | fetch_error (HTTP 404)",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each | 2026-08-19 00:00:00+00:00",
            "  text: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 120",
            "cost: 0.002 (estimate)",
        ],
        "parallel-contents-question": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 00:00:00+00:00",
            "  passage by parallel: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 132",
            "https://docs.example/gone.html | fetch_error (HTTP 404)",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each | 2026-08-19 00:00:00+00:00",
            "  passage by parallel: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 132",
            "cost: 0.002 (estimate)",
        ],
        "parallel-contents-all-failed": [
            "ProviderError (None): The page could not be fetched: https://docs.example/gone.html: fetch_error (HTTP 404). Check the URLs or try other ones."
        ],
        "jina-contents": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers | 2026-05-03 10:20:00+00:00",
            "  text: '# Northrop seed archive lends its first seeds to farmers\\n\\nFa' of 111",
            "https://docs.example/gone.html | HTTP 404",
            "https://news.example/2026/08/bee-census.html | Volunteers count wild bees: fewer kinds, more of each | 2026-08-19 00:00:00+00:00",
            "  text: '# Volunteers count wild bees: fewer kinds, more of each\\n\\nEle' of 115",
            "warning: https://news.example/2026/05/seed-archive.html: the first 111 of 347 characters.",
            "warning: https://news.example/2026/08/bee-census.html: the first 115 of 284 characters.",
            "cost: 7e-06 (estimate)",
        ],
        "jina-contents-keyless": [
            "https://news.example/2026/05/cassette-testing.html | Why recorded answers make better tests than hand-written mocks | 2026-05-21 07:55:00+00:00",
            "  text: '# Why recorded answers make better tests than hand-written m' of 353",
            "cost: 0.0",
        ],
        "jina-contents-timeout": [
            "ProviderError (None): The page could not be fetched: https://docs.example/special/timeout.html: Failed to goto https://docs.example/special/timeout.html: TimeoutError: Navigation timeout of 30000 ms exceeded. Check the URLs or try other ones."
        ],
        "jina-contents-wrong-key": [
            'AuthenticationError (401): Jina API returned HTTP 401: Invalid API key, please get a new one from https://jina.ai. Check the API key of provider "jina".'
        ],
        "jina-contents-no-credit": [
            'QuotaError (402): Jina API returned HTTP 402: Account balance not enough to run this query, please recharge. Top up the account of provider "jina" or use another provider.'
        ],
        "jina-search": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "https://news.example/2026/04/untitled-photo-page.html | https://news.example/2026/04/untitled-photo-page.html",
            "  'Photographs from the opening of the seed archive in Northrop' of 61",
            "https://docs.example/library/zipfile.html | zipfile — Read and write ZIP files",
            "  'A zip bomb is a small archive that becomes huge when it is e' of 126",
            "cost: 0.0005 (estimate)",
        ],
        "jina-search-filtered": [
            "https://news.example/2026/05/seed-archive.html | Northrop seed archive lends its first seeds to farmers",
            "  'Farmers in the dry south have borrowed seeds from the Northr' of 90",
            "filters: include_domains native, start_published_date local, end_published_date local, category unsupported",
            'warning: Filter category is not supported by provider "jina-search" and was not applied.',
            "warning: 1 result carries no date, so the date filter could not check it.",
            "cost: 0.0005 (estimate)",
        ],
        "jina-search-invalid": [
            "BadRequestError (400): Jina Search API returned HTTP 400: num: Input should be greater than or equal to 0, received -1. Change the request; the same one will fail again."
        ],
        "jina-search-wrong-key": [
            'AuthenticationError (401): Jina Search API returned HTTP 401: Invalid API key, please get a new one from https://jina.ai. Check the API key of provider "jina-search".'
        ],
        "jina-search-no-credit": [
            'QuotaError (402): Jina Search API returned HTTP 402: Account balance not enough to run this query, please recharge. Top up the account of provider "jina-search" or use another provider.'
        ],
        "context7-docs": [
            "https://docs.example/library/json.decoder.html | json.decoder — Implementation of JSONDecoder > class json.decoder.JSONDecoder",
            "  'Simple JSON <https://json.org> decoder Performs the followin' of 1495",
            "cost: Cost(usd=0.0, is_estimate=True)",
        ],
        "context7-docs-moved": [
            "https://docs.example/library/unittest.mock.html#_snippet_28 | class unittest.mock.AsyncMock",
            "  'Enhance :class:`Mock` with features allowing to mock an asyn' of 1611",
            "cost: Cost(usd=0.0, is_estimate=True)",
        ],
        "context7-docs-lost-version": [
            "https://docs.example/library/json.html | json — JSON (JavaScript Object Notation) <https://json.org> is a subset of JavaScript syntax > json.dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None, sort_keys=False, **kw)",
            "  'Serialize ``obj`` to a JSON formatted ``str``. If ``skipkeys' of 349",
            "warning: Context7 has no version v2.7 of /python/json, so the snippets are of its default version.",
            "cost: Cost(usd=0.0, is_estimate=True)",
        ],
        "context7-docs-wrong-key": [
            "AuthenticationError (401): Context7 API returned HTTP 401: Invalid API key. API keys start with the prefix 'ctx7sk'. Check the API key of provider \"context7\"."
        ],
        "context7-docs-no-credit": [
            'QuotaError (402): Context7 API returned HTTP 402: The monthly spending limit of the team is reached. Top up the account of provider "context7" or use another provider.'
        ],
    }
)
