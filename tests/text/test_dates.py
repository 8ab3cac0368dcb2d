"""Dates and ages in the languages and the forms in which providers send them."""
# ruff: noqa: RUF001 (letters of other scripts)

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from offline import Stub, answer, client, entry

from webtools._internal.text.dates import read_age, read_day, read_written_moment
from webtools.providers import PROVIDERS

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800
MONTH, YEAR = 30 * DAY, 365 * DAY

AGES: dict[str, int] = {
    "4 hrs ago": 4 * HOUR,
    "45 Mins. ago": 45 * MINUTE,
    "9h ago": 9 * HOUR,
    "2 wks ago": 2 * WEEK,
    "an hour ago": HOUR,
    "Yesterday": DAY,
    "about 6 months ago": 6 * MONTH,
    "vor 6 Stunden": 6 * HOUR,
    "vor einem Monat": MONTH,
    "vorgestern": 2 * DAY,
    "hace 11 meses": 11 * MONTH,
    "hace una semana": WEEK,
    "ayer": DAY,
    "il y a 8 ans": 8 * YEAR,
    "Il y a 50 min": 50 * MINUTE,
    "avant-hier": 2 * DAY,
    "9 ore fa": 9 * HOUR,
    "2 settimane fa": 2 * WEEK,
    "ieri": DAY,
    "há 4 dias": 4 * DAY,
    "4 semanas atrás": 4 * WEEK,
    "ontem": DAY,
    "7 weken geleden": 7 * WEEK,
    "een uur geleden": HOUR,
    "gisteren": DAY,
    "6天前": 6 * DAY,
    "6 小時前": 6 * HOUR,
    "2个月前": 2 * MONTH,
    "4 個星期前": 4 * WEEK,
    "昨天": DAY,
    "5分前": 5 * MINUTE,
    "8 時間前": 8 * HOUR,
    "4ヶ月前": 4 * MONTH,
    "２日前": 2 * DAY,
    "昨日": DAY,
    "7일 전": 7 * DAY,
    "4개월 전": 4 * MONTH,
    "어제": DAY,
    "4 дня назад": 4 * DAY,
    "год назад": YEAR,
    "вчера": DAY,
    "2 години тому": 2 * HOUR,
    "преди 2 години": 2 * YEAR,
    "7 godzin temu": 7 * HOUR,
    "wczoraj": DAY,
    "před 4 týdny": 4 * WEEK,
    "för 6 timmar sedan": 6 * HOUR,
    "for 4 måneder siden": 4 * MONTH,
    "2 päivää sitten": 2 * DAY,
    "acum 25 de minute": 25 * MINUTE,
    "4 napja": 4 * DAY,
    "πριν από 4 ημέρες": 4 * DAY,
    "6 saat önce": 6 * HOUR,
    "7 minggu yang lalu": 7 * WEEK,
    "4 ngày trước": 4 * DAY,
    "قبل ٤ أيام": 4 * DAY,
    "قبل ساعتين": 2 * HOUR,
    "לפני 4 ימים": 4 * DAY,
    "לפני שבועיים": 2 * WEEK,
    "4 दिन पहले": 4 * DAY,
    "4 วันที่ผ่านมา": 4 * DAY,
    "4 روز پیش": 4 * DAY,
}


@pytest.mark.parametrize(("text", "seconds"), AGES.items())
def test_an_age_is_read_in_any_of_these_languages(text: str, seconds: int) -> None:
    assert read_age(text, NOW) == NOW - timedelta(seconds=seconds)
    assert read_age(f" {text.upper()} ", NOW) == NOW - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "ago", "4 days", "some time ago", "vor Ort", "4", "4 Tage", "hace", "9999 years ago"],
)
def test_a_text_that_is_no_age_is_not_read(text: str) -> None:
    assert read_age(text, NOW) is None


DATES: dict[str, tuple[int, int]] = {
    "20260409": (4, 9),
    "April 9, 2026": (4, 9),
    "Sept. 30, 2026": (9, 30),
    "9. März 2026": (3, 9),
    "Mittwoch, 30. Dezember 2026": (12, 30),
    "30.12.2026": (12, 30),
    "9 de agosto de 2026": (8, 9),
    "9 ago. 2026": (8, 9),
    "1er février 2026": (2, 1),
    "9 août 2026": (8, 9),
    "9 luglio 2026": (7, 9),
    "9 gen 2026": (1, 9),
    "9 de fev. de 2026": (2, 9),
    "9 out. 2026": (10, 9),
    "9 mei 2026": (5, 9),
    "9 mrt 2026": (3, 9),
    "2026年8月30日": (8, 30),
    "2026 年 8 月 30 日": (8, 30),
    "2026년 8월 30일": (8, 30),
    "9 мая 2026 г.": (5, 9),
    "9 серп. 2026 р.": (8, 9),
    "9 listopada 2026": (11, 9),
    "9. prosince 2026": (12, 9),
    "9 maj 2026": (5, 9),
    "9 syyskuuta 2026": (9, 9),
    "2026. szeptember 9.": (9, 9),
    "2026 m. liepos 9 d.": (7, 9),
    "9 Ağu 2026": (8, 9),
    "9 Οκτωβρίου 2026": (10, 9),
    "9 tháng 8, 2026": (8, 9),
    "٩ يوليو ٢٠٢٦": (7, 9),
    "9 באפריל 2026": (4, 9),
    "9 अगस्त 2026": (8, 9),
    "9 ส.ค. 2569": (8, 9),
    "9 Agustus 2026": (8, 9),
}


@pytest.mark.parametrize(("text", "month_and_day"), DATES.items())
def test_a_date_is_read_in_any_of_these_languages(
    text: str, month_and_day: tuple[int, int]
) -> None:
    month, day = month_and_day
    assert read_day(text) == datetime(2026, month, day, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "May", "9 May", "Foo 9, 2026", "Feb 31, 2026", "9. listopada 2026.", "08/09/2026", "2026"],
)
def test_an_unclear_date_is_not_read(text: str) -> None:
    assert read_day(text) is None


def dated(kind: str, text: str) -> Any:
    """Return a body in which the provider, whichever it is, finds one result of this date."""
    names = ["date", "age", "time", "publishedDate", "published_date", "publish_date"]
    names += [] if kind == "brave" else ["page_age"]
    url = "https://a.example/"
    item = {"title": "A", **dict.fromkeys(names, text), **dict.fromkeys(["url", "link"], url)}
    body = {"results": [item], "organic": [item], "web": {"results": [item]}, "type": "search"}
    body |= {"searchParameters": {"q": "q"}, "success": True}
    data = {"kagi": {"data": {"search": [item]}}, "firecrawl": {"data": {"web": [item]}}}
    return body | data.get(kind, {}) | ({"results": {"web": [item]}} if kind == "you" else {})


UNDATED = {"linkup", "jina-search", "wikipedia"}  # their results have no dates


@pytest.mark.parametrize(
    "kind", [kind for kind in PROVIDERS if PROVIDERS[kind].search and kind not in UNDATED]
)
def test_every_provider_with_dates_may_send_them_in_words(kind: str) -> None:
    texts = ["April 9, 2026", "9 avril 2026", "2 days ago", "hace 2 días", "Yesterday", "3時間前"]
    for text in texts:
        with client(Stub(answer(dated(kind, text))), entry(kind)) as web:
            [result] = web.search("q").results
        assert result.published_at is not None, text
        age = datetime.now(UTC) - result.published_at
        if "2026" in text:
            assert result.published_at == datetime(2026, 4, 9, tzinfo=UTC)
        else:
            assert timedelta(hours=2) < age < timedelta(days=3)


@pytest.mark.parametrize("offset", [0, 60, 330, -480])
@pytest.mark.parametrize("parts", [(2026, 11, 3, 9, 5), (1999, 12, 31, 23, 59)])
def test_the_time_in_a_date_of_a_feed_is_kept(parts: tuple[int, ...], offset: int) -> None:
    year, month, day, hour, minute = parts
    zone = timezone(timedelta(minutes=offset))
    expected = datetime(year, month, day, hour, minute, tzinfo=zone)
    names = ["GMT", "UTC"] if offset == 0 else []
    texts = [format_datetime(expected), format_datetime(expected).partition(", ")[2]]
    texts += [f"{expected:%a, %d %b %Y %H:%M} {name}" for name in names]
    texts += [f"{expected:%Y-%m-%d %H:%M:%S} {name}" for name in names]
    for text in texts:
        assert read_written_moment(text, datetime.now(UTC)) == expected, text


def test_the_zero_of_a_clock_is_no_date_so_no_filter_removes_its_result() -> None:
    for zero in ("0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z", "1970-01-01"):
        assert read_written_moment(zero, datetime.now(UTC)) is None
        hit = {"url": "https://a.example/", "title": "A", "publishedDate": zero}
        web = client(Stub(answer({"results": [hit]})), entry("exa"))
        response = web.search("q", start_published_date="2020-01-01")
        assert [result.published_at for result in response.results] == [None]
        assert "no date" in " ".join(response.warnings)
