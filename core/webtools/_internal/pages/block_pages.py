"""Recognize pages that replace the requested page: bot checks, log-ins, consent, empty shells.

A page *about* such things is content, so no single word decides. Two signs of different kinds are
required with little main text, three with more, or one sign that no other page has.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from webtools._internal.faults import Fault, with_fault
from webtools._internal.pages.content import Source
from webtools._internal.pages.markup import Markup
from webtools.errors import ProviderError

_MEDIUM = 1500  # characters of main text; replacement pages have less
_SHORT = 700
_VERY_SHORT = 250
_LINE = 60
_FEW_WORDS = 12  # characters

BOT_CHECK = "the site returned a bot check instead of the page; use another source"
LOGIN = "the site returned a log-in form instead of the page; use another source"
CONSENT = "the site returned a cookie consent form instead of the page; use another source"
SCRIPTED = (
    "the page has little text without JavaScript, which is not run here; use another source or a "
    "provider that renders pages"
)
SCRIPTED_IN_VAIN = "the page has little text even after its scripts ran; use another source"
NOT_FOUND = "the page says that it does not exist; check the URL or search for it"

_Place: TypeAlias = Literal[
    "html", "title", "text", "start", "host", "redirect", "passwords", "captchas"
]


def _any(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


def _exact(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _compiled(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign that a page replaces another one.

    Attributes:
        reason: What the page is, for the error.
        place: Where to look: in the HTML, in title and heading, in the text with that for browsers
            without scripts, in the start of the text, in the host, in the path after a redirect
            (from a path of another kind), in the number of password fields, or in the HTML of a
            page that may embed captchas only as a check.
        pattern: What to find there.
        weight: How many signs it is.
    """

    reason: str
    place: _Place
    pattern: re.Pattern[str]
    weight: int = 1


# Whole titles, perhaps with the site's name after a dash: articles have longer titles.
_END = r"[\s.!?…]*(?:$|\s[|\u2013\u2014-]\s)"
_CHALLENGE = _exact(  # scripts and forms of challenges, not what content pages embed
    "_cf_chl_opt|cf-chl-|px-captcha|/_sec/cp_challenge|sgcaptcha",
    r"/cdn-cgi/challenge-platform/[^\"']{0,99}/orchestrate",
    r"id=[\"']challenge-form",
    r"geo\.captcha-delivery\.com",
    r"<iframe\b[^<>]{0,300}\bsrc=[\"']?/_Incapsula_Resource\?",
)
_CHALLENGE_TITLE = _compiled(
    "^"
    + _any(
        "just a moment|please wait|one moment,? please|one more step|attention required",
        "access (?:is )?denied|access to this page has been denied|unusual traffic.*",
        "checking your browser.*|robot check|bot check|captcha|ddos-guard",
        "are you (?:a )?(?:human|robot|not a robot)",
        "(?:security|browser) (?:check|verification)",
        "(?:human|bot) verification",
        "verify(?:ing)? (?:that )?you are (?:a )?human",
        "making sure you.re not a bot|pardon our interruption",
    )
    + _END
)
_LOGIN_PATH = _compiled(
    r"/(?:log-?in|sign-?in|signon|sso|authwall|checkpoint|session/new|wp-login)"
    r"(?:[._-]?(?:form|page|required|oidc))?(?:[/.;]|$)",
    r"^/auth(?:[/.]|$)",
    "/auth/?$",
)
_SIGNS = (
    _Sign(BOT_CHECK, "html", _CHALLENGE, weight=3),
    _Sign(BOT_CHECK, "title", _CHALLENGE_TITLE),
    _Sign(
        BOT_CHECK,
        "text",
        _compiled(
            r"(?:verify|confirm|prove|mak(?:e|ing) sure|ensure)[^.]{0,40}\b(?:human|robot|bot)\b",
            "checking (?:your browser|if the site connection)",
            "unusual (?:traffic|activity)",
            "complete the (?:security check|captcha|challenge)",
            "automated (?:access|queries|requests)",
            "press (?:&|and) hold",
            "(?:security|protect)[^.]{0,40}(?:ddos|bots|online attacks)",
            "access to this page has been denied",
            "needs to review the security of your connection",
        ),
    ),
    _Sign(  # scripts of bot protection, which are on every page of a site
        BOT_CHECK,
        "html",
        _exact(
            r"_Incapsula_Resource|window\._pxAppId|ak_bmsc",
            "awsWafCookieDomainList|AwsWafIntegration",
        ),
    ),
    _Sign(
        BOT_CHECK,
        "captchas",
        _compiled(
            r"(?:class|id)=[\"'](?:g-recaptcha|h-captcha|cf-turnstile)",
            r"recaptcha/(?:api|enterprise)\.js",
            r"js\.hcaptcha\.com",
            r"challenges\.cloudflare\.com/turnstile",
            "/captcha/",
            r"name=[\"']captcha",
        ),
    ),
    _Sign(LOGIN, "passwords", _compiled("[1-9]")),
    # The words end a title, or continue as in a form: "Login shells", "Sign in with X" are content.
    _Sign(
        LOGIN,
        "title",
        _compiled(
            r"^(?!.{0,200}\bhow (?:to|do|does|can)\b).*?"
            r"(?:\b(?:(?:log|sign)[ -]?(?:in|on)|anmeld(?:en|ung)|einloggen|connexion|se connecter"
            r"|iniciar sesi[oó]n|accedi|inloggen|authentication required|sso)\b|ログイン|登录)"
            r"(?:[\s.!?…]*$|\s*[|\u2013\u2014·•\u2039\u203a«»]|\s*:+\s|\s-+\s"
            r"|\s*(?:[/&,]|and|und|et|y|e|en)\s*(?:sign|log|regist|join|creat|continu|inscri)"
            r"|[\s-](?:to|into|required|page|screen|form|or|first|again|here|now|below|before"
            r"|with your|using your|bei|erforderlich|seite|bereich|oder|[àa]|ou|en|op|of)\b"
            r"|\s*(?:ページ|画面|して|が必要|页))"
        ),
    ),
    _Sign(LOGIN, "redirect", _LOGIN_PATH),
    _Sign(CONSENT, "host", _compiled(r"^(?:consent|cookies|guce)\.")),
    _Sign(
        CONSENT,
        "title",
        _compiled(
            "^"
            + _any(
                r"before you continue\b.*",
                "(?:your )?(?:cookie|privacy) (?:consent|settings|choices)",
                "consent",
                "we value your privacy",
                "bevor sie .{0,40}fortfahren.*",
                "avant d.acc[ée]der.*",
            )
            + _END
        ),
    ),
    _Sign(
        CONSENT,
        "start",
        _compiled(
            "(?:accept|agree|reject|alle akzeptieren|tout accepter)[^.]{0,80}",
            "we (?:and our partners )?use cookies",
            "personali[sz]ed ads",
        ),
    ),
)
_NEEDS_SCRIPT = _compiled(
    r"(?:enable|activate|turn on|requires?|need|without|allow|use)[^.]{0,40}\bjava ?script\b",
    r"\bjava ?script\b[^.]{0,60}(?:enabled?|required|disabled|activ|turned)",
)
_LOADING = _compiled(r"\bloading\b", r"\bplease wait\b")

# What pages that do not exist say.
_MISSING = (
    _any(
        r"(?:(?:the|this|that|requested|your) ){0,3}(?:web ?)?(?:page|file(?: or directory)?"
        r"|document|content|url)(?: (?:you|that|at)\b.{0,40}?)? "
        r"(?:(?:(?:was|is|could|can|does|did) ?)?not|(?:was|is|could|ca|does|did)n.t)"
        r"(?: be)? (?:found|exist|available)",
        "not found",
        "(?:we )?(?:can(?:not|.t| not)|could(?: not|n.t)) find (?:the |that |this )?page"
        "(?: .{0,40})?",
        "(?:diese )?seite (?:wurde )?nicht gefunden",
        "page (?:introuvable|non trouv.?e)",
        "p[áa]gina (?:no|n[ãa]o) (?:encontrada|existe)",
        "pagina (?:niet gevonden|non trovata)",
        "страница не найдена",
        "ページが見つかりません(?:でした)?",
        "(?:页面|頁面)(?:不存在|未找到)",
        "找不到(?:该|此)?(?:网页|页面)",
    )
    + "(?: (?:here|any ?more|on (?:this|the|our) (?:server|site|website)))?"
)
_NUMBER = r"(?:(?:http|error|status|code|fehler|erreur)[\s:]{1,3}){0,3}404\b"
_BETWEEN = r"[\s:.,!(|\u2013\u2014-]{0,9}"
_NOT_FOUND = (
    r"(?:(?:oops|sorry|whoops|uh[ -]oh|error)\b[\s,.!:…\u2013\u2014-]{0,9}){0,2}"
    rf"(?:{_NUMBER}(?:{_BETWEEN}(?:error|page))?(?:{_BETWEEN}{_MISSING})?"
    rf"|{_MISSING}(?:{_BETWEEN}{_NUMBER})?)[\s.!?…:()\d]{{0,9}}"
)
_NOT_FOUND_HEADING = re.compile(_NOT_FOUND, re.IGNORECASE)
_NOT_FOUND_TITLE = re.compile(
    rf"{_NOT_FOUND}(?:\s?[|·•«»\u2039\u203a].*|\s[\u2013\u2014-]\s.*)?"
    rf"|.{{1,60}}?\s[|·•\u2013\u2014-]\s(?:{_NUMBER}{_BETWEEN})?{_MISSING}[\s.!?…]{{0,9}}",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"404[\s.!]*(?:$|\W)(?!.*(?:error|page|found))", re.IGNORECASE)
_NOT_FOUND_TEXT = _compiled(
    "(?:page|url|link|document|article|content)[^.]{0,60}"
    + _any(
        "not found",
        "does(?: not|n.t) exist",
        "been (?:moved|removed|deleted)",
        "no longer (?:exists?|available)",
        "(?:could|can) ?not be found",
        "(?:could|ca)n.t be found",
        "is(?: not|n.t) available",
    ),
    r"\bwe (?:can(?:not|.t| not)|could(?: not|n.t)) find|nothing was found at this location",
    "page you(?:.re| are| were)? (?:looking for|request)",
    "diese seite nicht|seite existiert nicht",
    "n.existe (?:pas|plus)|no existe|n[ãa]o existe",
    "не (?:найдена|существует)",
    "見つかりません|不存在|找不到",
)
# A page about the status, even a short one.
_EXPLAINED_TITLE = _compiled(
    r"\b(?:how to|why|what (?:is|it|the|a|does)|mean(?:s|ing)?|explain\w*|fix(?:ing)?)\b"
)
_EXPLAINED_TEXT = _compiled(
    r"\b(?:status|response|error) (?:code|message)\b[^.]{0,30}\b(?:indicates|means|tells|says)\b"
)


def block_page(source: Source, html: str, markup: Markup, text: str) -> ProviderError | None:
    """Return the error for a page that replaces the requested one, or None for content.

    Args:
        source: The page with its URLs.
        html: The HTML of the page.
        markup: The facts that `scan` collected from it.
        text: The main text.
    """
    size = len(text)
    if size > _MEDIUM:
        return None
    places = _places(source, html, markup, size)
    weights = Counter[str]()
    for sign in _SIGNS:
        if sign.pattern.search(places[sign.place]):
            weights[sign.reason] += sign.weight
    threshold = 2 if size <= _SHORT else 3
    for reason in (BOT_CHECK, LOGIN, CONSENT):
        if weights[reason] >= threshold:
            return ProviderError(reason)
    if size <= _VERY_SHORT and _is_shell(markup, text):
        return ProviderError(SCRIPTED)
    if size <= _SHORT and _is_not_found(markup, text):
        return with_fault(ProviderError(NOT_FOUND), Fault.ADVISED)
    return None


def _places(source: Source, html: str, markup: Markup, size: int) -> dict[_Place, str]:
    """Return where to look for signs."""
    title = _title(markup)
    url = urlsplit(source.url)
    # A redirect from a log-in path may be one from http to https.
    from_login = _has(_LOGIN_PATH, urlsplit(source.requested_url).path)
    # Contact forms have captchas, too.
    is_check = size <= _VERY_SHORT or _has(_CHALLENGE_TITLE, title)
    return {
        "html": html,
        "title": title,
        "text": f"{markup.text}\n{markup.noscript}"[: 2 * _MEDIUM],
        "start": markup.text[:_MEDIUM],
        "host": url.hostname or "",
        "redirect": "" if from_login else url.path,
        "passwords": str(markup.passwords),
        "captchas": html if is_check else "",
    }


def names_missing_page(title: str) -> bool:
    """Return whether a title says only that there is no such page."""
    return _NOT_FOUND_HEADING.fullmatch(title[:_LINE]) is not None


def is_challenge(html: str) -> bool:
    """Return whether the body of an error response is a bot check."""
    return _has(_CHALLENGE, html)


def _title(markup: Markup) -> str:
    return f"{markup.title}\n{markup.heading}"


def _is_shell(markup: Markup, text: str) -> bool:
    if not markup.scripts:
        return False
    is_bare = len(text) <= len(markup.title) + len(markup.heading) + 20
    rest = text.replace(markup.heading, "", 1).strip("# \n")
    # Documentation says so, too, on short pages that need no script.
    is_empty = markup.has_app_root or len(rest) < _FEW_WORDS or _has(_LOADING, rest)
    needs_script = is_empty and _has(_NEEDS_SCRIPT, markup.noscript)
    return needs_script or _has(_NEEDS_SCRIPT, text) or (markup.has_app_root and is_bare)


def _is_not_found(markup: Markup, text: str) -> bool:
    """Distinguish a page that says it is missing from one about a status, or about a car named 404.

    Refusing content is worse than accepting such a page. Title and heading are often copies of each
    other, so they decide alone only if there is hardly any other text.
    """
    title, heading = markup.title, markup.heading
    matches = _NOT_FOUND_TITLE.fullmatch(title), _NOT_FOUND_HEADING.fullmatch(heading)
    rest = text.replace(heading, "", 1)[:300]
    if not any(matches) or _has(_EXPLAINED_TITLE, _title(markup)) or _has(_EXPLAINED_TEXT, rest):
        return False
    if _has(_NOT_FOUND_TEXT, rest):
        return True
    is_bare = all(map(_BARE_NUMBER.match, (title, heading)))
    return all(matches) and len(text) <= (_LINE if is_bare else _VERY_SHORT)


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None
