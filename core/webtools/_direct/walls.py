"""Tells pages that stand in for the one asked for: bot checks, log-ins, consent, empty shells.

A page *about* such things is content. So no single word decides: little main text and two signs
of different kinds are required, three where there is more text, or one that no other page bears.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from webtools._direct.markup import Markup

_SOME = 1500  # characters of main text; what stands before a page says less than that
_LITTLE = 700
_HARDLY_ANY = 250

BOT_CHECK = (
    "the site answered with a bot check instead of the page, which this package does not pass; "
    "use another source"
)
LOGIN = (
    "the site answered with a log-in form instead of the page, and this package has no account "
    "there; use another source"
)
CONSENT = (
    "the site answered with a request for consent to cookies instead of the page; use another "
    "source"
)
SCRIPTED = (
    "the page is put together by JavaScript, which this package does not run, and holds hardly "
    "any text; use another source or a provider that renders pages"
)
NOT_FOUND = (
    "the site says, with a success status, that there is no such page; check the URL or search "
    "for it"
)

_WORDS = re.IGNORECASE
# What only challenges hold: their scripts and forms, not the widgets that content pages embed.
_CHALLENGE_PARTS = re.compile(
    r"_cf_chl_opt|cf-chl-|/cdn-cgi/challenge-platform/[^\"']{0,99}/orchestrate|id=[\"']challenge-form"
    r"|geo\.captcha-delivery\.com|px-captcha|/_sec/cp_challenge|sgcaptcha",
)
# What guards leave on every page of a site.
_GUARD_PARTS = re.compile(
    r"_Incapsula_Resource|window\._pxAppId|ak_bmsc|awsWafCookieDomainList|AwsWafIntegration"
)
_CAPTCHA_PARTS = re.compile(
    r"(?:class|id)=[\"'](?:g-recaptcha|h-captcha|cf-turnstile)|recaptcha/(?:api|enterprise)\.js"
    r"|js\.hcaptcha\.com|challenges\.cloudflare\.com/turnstile|/captcha/|name=[\"']captcha",
    _WORDS,
)
# As whole titles, perhaps with the site's name after a dash: articles have longer ones.
_END = r"[\s.!?…]*(?:$|\s[|\u2013\u2014-]\s)"
_CHALLENGE_TITLE = re.compile(
    r"^(?:just a moment|attention required|please wait|one moment,? please|access (?:is )?denied"
    r"|checking your browser.*|access to this page has been denied|robot check|captcha|ddos-guard"
    r"|are you (?:a )?(?:human|robot|not a robot)|(?:security|browser) (?:check|verification)"
    r"|(?:human|bot) verification|verify(?:ing)? (?:that )?you are (?:a )?human|one more step"
    r"|making sure you.re not a bot|pardon our interruption|unusual traffic.*|bot check)" + _END,
    _WORDS | re.MULTILINE,
)
_CHALLENGE_TEXT = re.compile(
    r"(?:verify|confirm|prove|mak(?:e|ing) sure|ensure)[^.]{0,40}\b(?:human|robot|bot)\b"
    r"|checking (?:your browser|if the site connection)|unusual (?:traffic|activity)"
    r"|complete the (?:security check|captcha|challenge)|automated (?:access|queries|requests)"
    r"|press (?:&|and) hold|(?:security|protect)[^.]{0,40}(?:ddos|bots|online attacks)"
    r"|access to this page has been denied|needs to review the security of your connection",
    _WORDS,
)
_LOGIN_TITLE = re.compile(
    r"\b(?:log|sign)[ -]?(?:in|on)\b|\banmeld|einloggen|connexion|se connecter|iniciar sesi"
    r"|accedi\b|inloggen|authentication required|\bsso\b|ログイン|登录",
    _WORDS,
)
_LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|signon|sso|auth|authwall|checkpoint|session/new|wp-login)\b", _WORDS
)
_CONSENT_TITLE = re.compile(
    r"^(?:before you continue\b.*|(?:your )?(?:cookie|privacy) (?:consent|settings|choices)|consent"
    r"|we value your privacy|bevor sie .{0,40}fortfahren.*|avant d.acc[ée]der.*)" + _END,
    _WORDS | re.MULTILINE,
)
_CONSENT_TEXT = re.compile(
    r"(?:accept|agree|reject|alle akzeptieren|tout accepter)[^.]{0,80}"
    r"|we (?:and our partners )?use cookies|personali[sz]ed ads",
    _WORDS,
)
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|requires?|need|without|allow|use)[^.]{0,40}\bjava ?script\b"
    r"|\bjava ?script\b[^.]{0,60}(?:enabled?|required|disabled|activ|turned)",
    _WORDS,
)
_NOT_FOUND_TITLE = re.compile(
    r"^(?:error\s*:?\s*)?404\b|^not found|^(?:oops|sorry)\b.{0,40}\bfound"
    r"|^(?:the |this )?(?:page|file|document|content) (?:was |is |could |can)?(?:not|n.t) (?:be )?"
    r"(?:found|exist|available)|^(?:diese )?seite (?:wurde )?nicht gefunden"
    r"|^page (?:introuvable|non trouv)|^p[áa]gina no enc",
    _WORDS | re.MULTILINE,
)
_NOT_FOUND_TEXT = re.compile(
    r"(?:page|url|document|article|content)[^.]{0,60}(?:not found|does ?n.t exist|been (?:moved"
    r"|removed|deleted)|no longer (?:exist|available)|(?:could|can) ?not be found)"
    r"|diese seite nicht",
    _WORDS,
)


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of a page when it is judged.

    Attributes:
        asked: The URL asked for.
        url: The URL that answered.
        html: The markup.
        markup: What a pass over it found.
        text: The main text.
    """

    asked: str
    url: str
    html: str
    markup: Markup
    text: str

    @property
    def says(self) -> str:
        """Title and heading."""
        return f"{self.markup.title}\n{self.markup.heading}"


def wall(sight: Sight) -> str | None:
    """Tell what the page stands in for; None for content."""
    size = len(sight.text)
    if size > _SOME:
        return None
    needed = 2 if size <= _LITTLE else 3
    kinds = ((BOT_CHECK, _bot_signs), (LOGIN, _login_signs), (CONSENT, _consent_signs))
    for reason, signs in kinds:
        if sum(signs(sight)) >= needed:
            return reason
    if size <= _HARDLY_ANY and _is_shell(sight):
        return SCRIPTED
    return NOT_FOUND if size <= _LITTLE and _says_not_found(sight) else None


def is_challenge(html: str) -> bool:
    """Tell whether the body of an error answer is a bot check."""
    return _CHALLENGE_PARTS.search(html) is not None


def _bot_signs(sight: Sight) -> Iterator[int]:
    shown = f"{sight.markup.text}\n{sight.markup.noscript}"[: 2 * _SOME]
    named = _has(_CHALLENGE_TITLE, sight.says)
    yield 3 * is_challenge(sight.html)
    yield named
    yield _has(_CHALLENGE_TEXT, shown)
    yield _has(_GUARD_PARTS, sight.html)
    # Contact forms have them too.
    yield _has(_CAPTCHA_PARTS, sight.html) and (named or len(sight.text) <= _HARDLY_ANY)


def _login_signs(sight: Sight) -> Iterator[int]:
    moved = sight.url.partition("#")[0] != sight.asked.partition("#")[0]
    yield sight.markup.passwords > 0
    yield _has(_LOGIN_TITLE, sight.says)
    yield moved and _has(_LOGIN_PATH, urlsplit(sight.url).path)


def _consent_signs(sight: Sight) -> Iterator[int]:
    host = urlsplit(sight.url).hostname or ""
    yield host.startswith(("consent.", "cookies.", "guce."))
    yield _has(_CONSENT_TITLE, sight.says)
    yield _has(_CONSENT_TEXT, sight.markup.text[:_SOME])


def _is_shell(sight: Sight) -> bool:
    markup = sight.markup
    if not markup.scripts:
        return False
    told = _has(_NEEDS_SCRIPT, f"{markup.noscript}\n{sight.text}")
    bare = len(sight.text) <= len(markup.title) + len(markup.heading) + 20
    return told or (markup.has_app_root and bare)


def _says_not_found(sight: Sight) -> bool:
    named = [_has(_NOT_FOUND_TITLE, each) for each in (sight.markup.title, sight.markup.heading)]
    return sum((*named, _has(_NOT_FOUND_TEXT, sight.text[:300]))) >= 2  # noqa: PLR2004


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None
