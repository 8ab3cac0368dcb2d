"""A small set of dated news, invented for the sandbox: people, places and events are not real.

Dates come in the forms found on the web: with offset, naive, date-only, missing. So do titles: with
markup characters, and one that is empty. They are written as they are on one day, and move with the
day on which they are read, so that there are always some of this week; paths stay.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

WRITTEN_ON = date(2026, 11, 6)
_DAY_LENGTH = len("2026-11-06")


class NewsItem(NamedTuple):
    """One article; `published` is what the page itself states, on the day `WRITTEN_ON`."""

    path: str
    title: str
    published: str | None
    author: str | None
    text: str


def moved(published: str, today: date) -> str:
    """Return the date of an article as it is to be read today, in the form in which it stands."""
    written, rest = published[:_DAY_LENGTH], published[_DAY_LENGTH:]
    day = date.fromisoformat(written) + (today - WRITTEN_ON)
    return f"{day.isoformat()}{rest}"


ITEMS = (
    NewsItem(
        "2026/02/tidal-pool-opens.html",
        "Harbour town of Vellmouth opens its tidal pool after a decade of argument",
        "2026-02-14T08:30:00.000Z",
        "Ines Kolbe",
        "Vellmouth opened its sea-water pool on Saturday morning. Four hundred people "
        "queued in the rain. The council had first voted for the pool in 2015.\n\n"
        "The basin fills twice a day with the tide and needs no pumps. Engineers expect "
        "running costs of 40,000 a year, a third of what a heated pool costs.\n\n"
        "The swimming club will run lessons for children from April.",
    ),
    NewsItem(
        "2026/02/packaging-survey.html",
        "Survey: Python teams spend less time on packaging & more on supply chains",
        "2026-02-20",
        "Tomasz Arden",
        "Teams that write Python report fewer packaging problems than two years ago. Lock "
        "files are now used by two thirds of the 3,100 people who answered the survey.\n\n"
        "The time saved goes elsewhere: checking the supply chain of dependencies is the "
        "fastest growing chore. Half of all teams rebuild wheels from source before they "
        "deploy.\n\n"
        "The survey was run by the Larchwood Institute.",
    ),
    NewsItem(
        "2026/03/json-streaming-parser.html",
        "A streaming JSON parser that never holds the whole document",
        "2026-03-04T09:15:00.000Z",
        "Mira Oyelaran",
        "The team behind the Sluice project released a streaming JSON parser for Python "
        "this week. It yields values while the document is still arriving and uses 64 KiB "
        "of memory whatever the size of the input.\n\n"
        "On a 2 GB export the parser was slower than the standard json module by a "
        "quarter, but started to deliver after three milliseconds.\n\n"
        "Maintainer Jon Sable says that error messages name the line and column of a "
        "fault.",
    ),
    NewsItem(
        "2026/03/night-train-returns.html",
        "Night train between Orsk Bay and Lindau Point returns in summer",
        "2026-03-11T17:45:00",
        "Petra Lund",
        "After nine years the night train is back. It leaves Orsk Bay at 21:40 and "
        "reaches Lindau Point in time for breakfast.\n\n"
        "Tickets with a bed start at 59. The operator ordered twelve sleeping cars, of "
        "which seven have been delivered.\n\n"
        "Passenger groups welcome the line but ask for bicycle space.",
    ),
    NewsItem(
        "2026/03/regex-outage.html",
        "One regular expression stopped a payment network for 37 minutes",
        "2026-03-19T22:05:00.000Z",
        None,
        "A regular expression with nested repetition brought the Coinfold payment network "
        "to a halt on Thursday. Every server spent its time backtracking over one long "
        "merchant name.\n\n"
        "The rule had passed review and tests because no test string was longer than "
        "forty characters. Coinfold now sets a timeout on every match and runs untrusted "
        "patterns in an engine without backtracking.\n\n"
        "No payments were lost, the company said.",
    ),
    NewsItem(
        "2026/04/heat-pump-village.html",
        "Village heats 210 homes with the warmth of a data centre",
        "2026-04-02T06:00:00.000Z",
        "Ines Kolbe",
        "In Harrowfield the waste heat of a data centre now warms 210 homes. Water leaves "
        "the servers at 45 degrees and a heat pump lifts it to 65.\n\n"
        "Households pay a fifth less than for gas. The operator of the data centre saves "
        "the electricity for its cooling towers.\n\n"
        "Three neighbouring villages have asked to be connected.",
    ),
    NewsItem(
        "2026/04/asyncio-debugging-book.html",
        "Book review: 'Waiting Well', a patient guide to asyncio & structured concurrency",
        "2026-04-09",
        "Dana Whitlock",
        "Most books on asyncio begin with coroutines. 'Waiting Well' begins with a queue "
        "in a bakery and only then shows an event loop.\n\n"
        "The chapters on cancellation and task groups are the best account of the subject "
        "in print. The author insists that every task needs an owner and every wait a "
        "timeout.\n\n"
        "A chapter on debugging with the standard library's own tools closes the book.",
    ),
    NewsItem(
        "2026/04/untitled-photo-page.html",
        "",
        None,
        None,
        "Photographs from the opening of the seed archive in Northrop. Visitors walk "
        "between shelves of glass jars. The archive keeps 41,000 kinds of seed at minus "
        "eighteen degrees.",
    ),
    NewsItem(
        "2026/05/seed-archive.html",
        "Northrop seed archive lends its first seeds to farmers",
        "2026-05-03T10:20:00.000Z",
        "Petra Lund",
        "Farmers in the dry south have borrowed seeds from the Northrop archive for the "
        "first time. They promise to return twice the amount after the harvest.\n\n"
        "The loan covers eleven old kinds of barley which need little water. Agronomists "
        "will publish the yields.\n\n"
        "The archive was opened in April.",
    ),
    NewsItem(
        "2026/05/search-api-prices.html",
        "Web search for agents becomes a market: five APIs compared by price and freshness",
        "2026-05-12T13:00:00.000Z",
        "Tomasz Arden",
        "Agents search the web more often than people do in some companies. Five "
        "providers of search APIs compete for that traffic, at 4 to 25 dollars for a "
        "thousand requests.\n\n"
        "Our comparison found large differences in freshness: the newest page in the "
        "answers was between two hours and three weeks old.\n\n"
        "The most frequent mistake in client code was a filter that the API ignored "
        "silently.",
    ),
    NewsItem(
        "2026/05/cassette-testing.html",
        "Why recorded answers make better tests than hand-written mocks",
        "2026-05-21T07:55:00",
        "Mira Oyelaran",
        "A mock returns what its author believes an API returns. A recorded answer, a "
        "cassette, returns what the API sent.\n\n"
        "Recordings age, so they should say when and how they were made. A test that "
        "plays only a part of its cassette should fail.\n\n"
        "Keys must be removed before a recording is kept.",
    ),
    NewsItem(
        "2026/06/quantum-clock.html",
        "Optical clock loses less than a second in thirty billion years",
        "2026-06-01T11:11:00.000Z",
        "Sven Abara",
        "Physicists at the Institute in Marrow Hill built an optical clock from strontium "
        "atoms that would lose less than a second in thirty billion years.\n\n"
        "The clock is the size of a refrigerator and travels by lorry. It will measure "
        "differences in height between cities through gravity's effect on time.\n\n"
        "A network of four such clocks is planned.",
    ),
    NewsItem(
        "2026/06/csv-is-forty.html",
        "Opinion: CSV will outlive us all, so let us at least quote our fields",
        "2026-06-08",
        "Dana Whitlock",
        "Every few years someone buries the CSV file. It does not stay buried. "
        "Spreadsheets write it, banks demand it, and the csv module of Python reads most "
        "of it.\n\n"
        "What hurts is guessing: the delimiter, the quotes, the encoding. Write the "
        "header, quote every field, use UTF-8.\n\n"
        "A format that fits on a postcard deserves readers who keep to it.",
    ),
    NewsItem(
        "2026/06/ferry-electric.html",
        "Electric ferry crosses the Sound 1,000 times without a fault",
        "2026-06-17T15:30:00.000Z",
        "Petra Lund",
        "The electric ferry Kittiwake finished its thousandth crossing of the Sound. It "
        "charges for seven minutes at each end and carries 120 cars.\n\n"
        "The shipping company orders two more. Noise in the harbour has fallen by half, "
        "residents say.",
    ),
    NewsItem(
        "2026/07/tls-certificates-short.html",
        "Certificates for 47 days: what shorter TLS lifetimes mean for small sites",
        "2026-07-06T08:00:00.000Z",
        "Tomasz Arden",
        "TLS certificates will soon last 47 days at most. Whoever renews by hand today "
        "will have to automate.\n\n"
        "The ssl module and most HTTP libraries need no change, but programs that pin a "
        "certificate will break more often. Experts advise to pin the authority or "
        "nothing.\n\n"
        "Small sites should test the renewal, not only the certificate.",
    ),
    NewsItem(
        "2026/07/glacier-lake.html",
        "Lake below the Torvik glacier drains overnight, villages were warned in time",
        "2026-07-14T04:40:00.000Z",
        "Sven Abara",
        "A lake below the Torvik glacier drained in six hours on Monday night. Sensors on "
        "the ice had raised the alarm eleven hours before.\n\n"
        "All 340 inhabitants of the valley spent the night in the school. Two bridges "
        "were damaged.\n\n"
        "The sensors report water level and temperature by radio every minute.",
    ),
    NewsItem(
        "2026/08/sqlite-everywhere.html",
        "From phones to probes: the database that fits in one file",
        "2026-08-03T12:00:00.000Z",
        "Mira Oyelaran",
        "SQLite is in every phone, in aircraft and in a weather probe that left for the "
        "Torvik glacier in May. The probe's engineers chose it because a lost connection "
        "never leaves half a record.\n\n"
        "Python programs reach it with the sqlite3 module. Write-ahead logging lets "
        "readers continue while a writer works.\n\n"
        "The file format is promised to stay readable until 2050.",
    ),
    NewsItem(
        "2026/08/bee-census.html",
        "Volunteers count wild bees: fewer kinds, more of each",
        "2026-08-19",
        None,
        "Eleven thousand volunteers counted wild bees in July. They found 214 kinds, nine "
        "fewer than in the census before, but more bees of each kind.\n\n"
        "Researchers explain the result by the wet spring. The data can be downloaded as "
        "CSV.",
    ),
    NewsItem(
        "2026/09/python-release-cadence.html",
        "Python's yearly release brings a faster interpreter & clearer error messages",
        "2026-09-28T16:00:00.000Z",
        "Dana Whitlock",
        "The release candidate of this year's Python is out. Tracebacks name the argument "
        "at fault, and the interpreter starts a tenth faster.\n\n"
        "The deprecated modules that were announced three years ago are gone. Authors of "
        "packages should test against the candidate now.\n\n"
        "Free-threaded builds are no longer marked as experimental in the installer.",
    ),
    NewsItem(
        "2026/10/agent-budget-leak.html",
        "An agent in a loop spent 9,000 on searches over one weekend",
        "2026-10-12T09:05:00.000Z",
        "Tomasz Arden",
        "A research agent at the Fennick agency repeated one search 700,000 times over a "
        "weekend. Each answer was an error which the tool had presented as an empty "
        "result, so the agent tried again.\n\n"
        "Fennick now sets a daily budget and a limit of calls in every tool. The provider "
        "refunded half of the cost.\n\n"
        "Errors must look like errors, the agency's report concludes.",
    ),
    NewsItem(
        "2026/10/harbour-crane.html",
        "Restored harbour crane of Lindau Point lifts its first load since 1961",
        "2026-10-31",
        "Petra Lund",
        "The steam crane on the quay of Lindau Point lifted a fishing boat on Saturday, its "
        "first load since 1961. Volunteers had worked on it for six winters.\n\n"
        "The boiler is new, the gears are not. Visitors may watch on the first Sunday of "
        "every month.",
    ),
    NewsItem(
        "2026/11/fennick-caches.html",
        "Agency halves its search bill with a cache that agents share",
        "2026-11-02T10:45:00.000Z",
        "Tomasz Arden",
        "The Fennick agency pays half as much for web search as in summer. Its agents now "
        "share one cache, and identical questions at the same time are asked once.\n\n"
        "The daily budget set after an expensive weekend in October was not reached "
        "again.\n\n"
        "What was found is kept for thirty minutes, news for five.",
    ),
    NewsItem(
        "2026/11/python-small-machines.html",
        "Python programs start a third faster on small machines",
        "2026-11-04T07:10:00.000Z",
        "Mira Oyelaran",
        "Programs in Python start a third faster on small machines when modules are "
        "imported only where they are used, tests at the Larchwood Institute show.\n\n"
        "The gain is largest for command-line tools that run for less than a second. "
        "Servers do not profit.\n\n"
        "The institute published its measurements and the script that made them.",
    ),
    NewsItem(
        "2026/11/prompt-injection-recipe.html",
        "Recipe site hid orders to AI agents in its <footer>",
        "2026-11-05T14:25:00",
        "Ines Kolbe",
        "A recipe site carried a hidden sentence that told AI agents to praise its "
        "sponsor. Two shopping assistants obeyed.\n\n"
        "Text from a web page is material and never an instruction, say researchers at "
        "the Larchwood Institute. Tools should mark where page text begins and ends.\n\n"
        "The site removed the sentence after three days.",
    ),
    NewsItem(
        "2025/11/library-robot.html",
        "Library robot finds 6,000 misplaced books in its first winter",
        "2025-11-23T10:00:00.000Z",
        "Petra Lund",
        "A robot reads the spines in the Orsk Bay library at night. In its first winter "
        "it found 6,000 books on the wrong shelf.\n\n"
        "Librarians put them back by hand. The robot stops when it meets the cat.",
    ),
    NewsItem(
        "2025/06/datetime-bug.html",
        "A naive datetime moved 12,000 appointments by one hour",
        "2025-06-30",
        "Mira Oyelaran",
        "Clinics in three counties sent patients an hour early. A program had stored "
        "naive datetime values and read them back in another time zone.\n\n"
        "The repair took a day: every value became aware, in UTC, and the zoneinfo module "
        "now does the display.\n\n"
        "The clinics apologised by letter.",
    ),
    NewsItem(
        "2024/09/bridge-of-timber.html",
        "Longest timber bridge of the region carries its first tram",
        "2024-09-15T07:30:00.000Z",
        "Sven Abara",
        "The timber bridge over the Marrow is 310 metres long and carried its first tram "
        "on Sunday.\n\n"
        "Spruce and larch from the valley were glued to arches. The architect promises a "
        "hundred years.",
    ),
    NewsItem(
        "2023/01/concurrency-history.html",
        "A short history of threads, processes & event loops in Python",
        "2023-01-09",
        "Dana Whitlock",
        "Threads came first, then processes, then event loops. The threading module was "
        "modelled on Java's, and multiprocessing on threading.\n\n"
        "The asyncio module arrived in 2014 and made waiting explicit. All three have "
        "their place: processes for computing, threads for libraries that block, asyncio "
        "for many connections.",
    ),
    NewsItem(
        "2019/05/old-http-client.html",
        "Urllib, requests & friends: ten years of HTTP clients",
        "2019-05-20T00:00:00.000Z",
        None,
        "Ten years ago most Python programs spoke HTTP through urllib. Connection pools, "
        "timeouts and proper TLS checks came with libraries outside the standard library.\n\n"
        "Many defaults of that time survive: requests without a timeout still wait for "
        "ever.",
    ),
)
