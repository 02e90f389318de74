"""The changes of one package as two texts: what each touched, and which terms it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from repairs.history import Commit
from trainrx.knowledge.repairs import name_term, names_in, words_in, words_line
from trainrx.model.packages import Repair, Repairs

TITLE, TEXT, NAMED, TOUCHED, WRITTEN, FILE = 2.0, 0.7, 1.5, 1.0, 0.7, 0.5
"""Weights of a word of the title, one of the text below, a name told in either, a function that was
changed, a name in the changed lines, a word of a file's name. Chosen on labelled threads whose
repair is known: a half of them find it in the first place of thousands (README)."""
READ = 400
"""Characters of the text below a title that are read: what follows is lists and signatures."""
MOST_WRITTEN = 25
"""Names in changed lines that count, the most frequent."""
SHOWN_FILES, SHOWN_NAMES = 3, 6


def terms_of(commit: Commit) -> dict[str, float]:
    """Weigh the terms of one change."""
    held: dict[str, float] = defaultdict(float)

    def count(terms: Iterable[str], weight: float) -> None:
        for term in terms:
            held[term] += weight

    text = commit.body[:READ]
    count(words_in(commit.subject), TITLE)
    count(words_in(text), TEXT)
    count(names_in(f"{commit.subject} {text}"), NAMED)
    for path, names in commit.touched.items():
        count(words_in(path.rpartition("/")[2].removesuffix(".py")), FILE)
        count((name_term(name) for name in names), TOUCHED)
    count(_written(commit.lines), WRITTEN)
    return dict(held)


def _written(lines: Sequence[str]) -> list[str]:
    found: dict[str, int] = defaultdict(int)
    for line in lines:
        for name in names_in(line):
            found[name] += 1
    return sorted(found, key=lambda name: (-found[name], name))[:MOST_WRITTEN]


def changes_text(
    package: str, url: str, commits: Sequence[Commit], releases: Mapping[str, str] | None
) -> str:
    """Write the head and one line per change; `releases` None: no tag tells them."""
    until = max((commit.date for commit in commits), default="")
    head = Repairs(
        package=package, url=url, until=until, count=len(commits), releases=releases is not None
    )
    lines = [msgspec.json.encode(head), *(_line(c, releases or {}) for c in commits)]
    return "".join(f"{line.decode()}\n" for line in lines)


def _line(commit: Commit, releases: Mapping[str, str]) -> bytes:
    at = (commit.digest, *((f"#{commit.pull}",) if commit.pull is not None else ()))
    names = dict.fromkeys(name for held in commit.touched.values() for name in held)
    return msgspec.json.encode(
        Repair(
            commit=commit.digest[:9],
            date=commit.date,
            pull=commit.pull,
            release=next((releases[key] for key in reversed(at) if key in releases), ""),
            files=tuple(commit.touched)[:SHOWN_FILES],
            names=tuple(names)[:SHOWN_NAMES],
        )
    )


def words_text(commits: Sequence[Commit]) -> str:
    """Write one line per change, in the order of the other text: its terms by their weight."""
    return "".join(f"{words_line(terms_of(commit))}\n" for commit in commits)
