"""The few calls of GitHub's REST interface that an answer takes, and files that posts link to."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

import httpx
import msgspec

from trainrx.model.errors import UsageError
from trainrx.share.task import TaskFile

JSON = Mapping[str, object]
MOST_FILES = 5
LARGEST_FILE = 16 << 20
"""Bytes of an attachment; GitHub takes up to 25 MB."""
MOST_HOPS = 3
STORAGE = re.compile(
    r"(?:[\w-]+\.)*githubusercontent\.com|github-production-[\w-]+\.s3\.amazonaws\.com"
)
"""Where GitHub keeps what was attached, to which its own links lead."""
READ = re.compile(
    r"\.(?:log|txt|out|err|md|jsonl?|ya?ml|sh|py|toml|csv|gz|zst|zip|tgz)$", re.IGNORECASE
)
MOST_WAIT = 120.0
"""Seconds that are waited for a limit in all; a job of Actions costs by the minute."""
TRIES = 4
PAGE = 100
MOST_PAGES = 20


class RestError(UsageError):
    """GitHub does not do what is asked."""


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """Who a comment is of, and what it says."""

    id: int
    body: str
    user: str
    is_bot: bool


class GitHub:
    """One repository.

    Args:
        client: asks the interface, its token included; its base is that of the interface.
        repository: `owner/name`.
        sleep: waits for a limit.
    """

    def __init__(
        self, client: httpx.Client, repository: str, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client, self._sleep = client, sleep
        self._at = f"/repos/{repository}"
        self._waited = 0.0

    def comments(self, issue: int) -> list[Sent]:
        """Give all comments of an issue, the oldest first."""
        return [_sent(one) for one in self._all(f"{self._at}/issues/{issue}/comments")]

    def labels(self) -> frozenset[str]:
        """Name the labels there are."""
        return frozenset(str(one["name"]) for one in self._all(f"{self._at}/labels"))

    def add_comment(self, issue: int, body: str) -> None:
        """Comment on an issue; it is not asked again where that may have been done."""
        self._ask("POST", f"{self._at}/issues/{issue}/comments", {"body": body})

    def edit_comment(self, comment: int, body: str) -> None:
        """Put something else into a comment."""
        self._ask("PATCH", f"{self._at}/issues/comments/{comment}", {"body": body})

    def add_labels(self, issue: int, names: list[str]) -> None:
        """Add labels to an issue; those it has stay."""
        self._ask("POST", f"{self._at}/issues/{issue}/labels", {"labels": names})

    def _all(self, path: str) -> Iterator[JSON]:
        for page in range(1, MOST_PAGES + 1):
            found = self._ask("GET", f"{path}?per_page={PAGE}&page={page}", None).json()
            yield from found
            if len(found) < PAGE:
                return

    def _ask(self, method: str, path: str, body: JSON | None) -> httpx.Response:
        """Ask, waiting where GitHub says so.

        Raises:
            RestError: it is refused, or would have to be waited for too long.
        """
        for _ in range(TRIES):
            try:
                said = self._client.request(method, path, json=body)
            except httpx.HTTPError as error:
                raise RestError(f"GitHub cannot be reached: {type(error).__name__}") from error
            pause = _pause(said)
            if pause is None or self._waited + pause > MOST_WAIT:
                break
            self._waited += pause
            self._sleep(pause)
        if said.is_success:
            return said
        asked = f"{method} {path.partition('?')[0]}"
        why = "; the token needs the permission issues: write" if said.is_client_error else ""
        raise RestError(f"GitHub answers {asked} with status {said.status_code}{why}")


def _sent(one: JSON) -> Sent:
    user = one.get("user")
    user = user if isinstance(user, dict) else {}
    return Sent(
        id=int(str(one["id"])),
        body=str(one.get("body") or ""),
        user=str(user.get("login", "")),
        is_bot=user.get("type") == "Bot",
    )


def _pause(said: httpx.Response) -> float | None:
    """Give the seconds that a limit asks to wait for; None where there is none to wait for.

    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    if said.status_code not in (403, 429):
        return None
    after = said.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    reset = said.headers.get("x-ratelimit-reset", "")
    if said.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(1.0, float(reset) - time.time())
    return 60.0 if said.status_code == 429 else None


class AttachedLink(msgspec.Struct, frozen=True, kw_only=True):
    """Files that were fetched, and names of those that were not."""

    files: tuple[TaskFile, ...] = ()
    unread: tuple[str, ...] = ()


def attached(client: httpx.Client, text: str, server: str) -> AttachedLink:
    """Fetch the files that a text links to and that were attached to it on GitHub itself.

    Args:
        client: asks without a token: whoever writes a link says where it leads.
        text: what somebody wrote.
        server: where the pages of GitHub are.
    """
    place = re.escape(server)
    link = re.compile(
        rf"{place}/(?:user-attachments|[\w.-]+/[\w.-]+)/files/\d+/([\w.%+-]{{1,200}})"
    )
    found = {match[0]: unquote(match[1]) for match in link.finditer(text)}
    wanted = [(url, name) for url, name in found.items() if READ.search(name)]
    files, unread = [], [name for _, name in wanted[MOST_FILES:]]
    for url, name in wanted[:MOST_FILES]:
        data = _fetched(client, url, server)
        if data is None:
            unread.append(name)
        else:
            files.append(TaskFile(name=name, data=data))
    return AttachedLink(files=tuple(files), unread=tuple(unread))


def _fetched(client: httpx.Client, url: str, server: str) -> bytes | None:
    """Give a file; None where it is too large, leads elsewhere or cannot be had."""
    try:
        for _ in range(MOST_HOPS):
            if not _is_allowed(url, server):
                return None
            with client.stream("GET", url, follow_redirects=False) as said:
                if said.is_redirect:
                    url = str(said.url.join(said.headers.get("location", "")))
                    continue
                return _limited(said) if said.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    return None


def _is_allowed(url: str, server: str) -> bool:
    if url.startswith(f"{server}/"):
        return True
    at = urlsplit(url)
    return at.scheme == "https" and STORAGE.fullmatch(at.netloc) is not None


def _limited(said: httpx.Response) -> bytes | None:
    data = bytearray()
    # as it came: what is packed may unpack to any size, and the reader bounds that itself
    for piece in said.iter_raw():
        data += piece
        if len(data) > LARGEST_FILE:
            return None
    return bytes(data)
