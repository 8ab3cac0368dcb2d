"""What a session reports: its sources, and the check of an answer."""

from webtools.choices import Origin
from webtools.results.base import ItemModel, Model
from webtools.results.research_models import Verified


class SessionSource(Model):
    """A source of a session.

    Attributes:
        number: The number that cites it as `[n]`, the same in the whole session. 0 for a URL of the
            user or the developer that no call has returned.
        url: The URL as it was seen.
        title: Title, or "" if it is not known.
        how: How the URL was first seen: in a `search`, on a `page`, in a `native` search of the
            model's vendor, in a text of the `user` or the `developer`, or only as the `argument` of
            a call.
        is_read: Whether its page was read, or a summary of it.
        is_cited: Whether the vendor of a model cites it for what it searched.
    """

    number: int
    url: str
    title: str = ""
    how: Origin
    is_read: bool = False
    is_cited: bool = False


class Remaining(Model):
    """What is left of the limits of a session, at least 0; None without a limit.

    Attributes:
        usd: Money in USD: the smallest of what is left of the session, of the user's day, and of
            the budget of the settings.
        calls: Tool calls.
        seconds: Seconds until all calls end.
    """

    usd: float | None = None
    calls: int | None = None
    seconds: float | None = None


class AnswerCheck(ItemModel):
    """What is wrong with the links and citations of an answer.

    Attributes:
        not_seen: Links that the session never saw. A model may have invented them.
        bad_numbers: Numbers of `[n]` that no source has.
        only_found: URLs of cited sources that were found and never read, without those that the
            vendor of a model cites for its own search.
        verified: The status of each claim, if it was requested.
    """

    not_seen: list[str] = []
    bad_numbers: list[int] = []
    only_found: list[str] = []
    verified: Verified | None = None

    @property
    def is_clean(self) -> bool:
        """Whether every link was seen and every number has a source."""
        return not (self.not_seen or self.bad_numbers)
