"""Look up what entries claim, and say what does not hold.

    python -m verify [--sources FOLDER]... [--write] [ID ...]
    python -m verify read right|imprecise|wrong ID ...
    python -m verify messages NAME=FOLDER ... [--misses]
    python -m verify reach --sources FOLDER ... [ID ...]
    python -m verify params [ID ...]

See README.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainrx.knowledge.load import load, read_folders
from trainrx.knowledge.places import shipped
from trainrx.model.levers import Guard
from verify import messages, params, reach
from verify.claims import Verified, claims_of
from verify.look import Looker, Outcome
from verify.sources import Sources
from verify.table import SEEN, add_readings, read_seen, write_seen, write_table

Found = Sequence[tuple[Verified, Sequence[Outcome]]]


def main() -> int:
    """Run the command; 1 where something does not hold."""
    if sys.argv[1:2] == ["messages"]:
        return messages.main(sys.argv[2:])
    if sys.argv[1:2] == ["params"]:
        return params.main(load().params, sys.argv[2:])
    if sys.argv[1:2] == ["reach"]:
        guards = (entry for entry in _entries() if isinstance(entry, Guard))
        return reach.main(load(), guards, sys.argv[2:])
    today = dt.datetime.now(dt.timezone.utc).date()
    if sys.argv[1:2] == ["read"]:
        add_readings(shipped()[0], sys.argv[2], sys.argv[3:], _entries(), today)
        return 0
    parser = argparse.ArgumentParser(
        prog="verify", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("idents", nargs="*", metavar="ID", help="default: all entries")
    parser.add_argument(
        "--sources", action="append", type=Path, default=[], metavar="FOLDER",
        help="where clones (owner+name) and unpacked packages (name-version) lie",
    )  # fmt: skip
    parser.add_argument("--unseen", action="store_true", help="say what could not be looked up too")
    parser.add_argument("--write", action="store_true", help="write what holds into kb")
    given = parser.parse_args()
    if given.write and given.idents:
        parser.error("the table is written of all entries, not of some")
    looker = Looker(Sources(given.sources), read_seen(SEEN))
    found = [
        (entry, [looker.outcome(claim) for claim in claims_of(entry)])
        for entry in _entries()
        if not given.idents or entry.id in given.idents
    ]
    _say(found, unseen=given.unseen)
    if given.write:
        write_seen(SEEN, looker.seen())
        write_table(shipped()[0], found, today)
    return int(any(one.state == "fails" for _, held in found for one in held))


def _entries() -> Iterator[Verified]:
    """Give the entries of kb as authors wrote them."""
    kb, rules = shipped()
    known = read_folders([kb], [rules])
    yield from known.symptoms.values()
    yield from known.causes.values()
    yield from known.guards.values()
    yield from known.levers.values()
    yield from known.ranges.values()
    yield from known.params.values()


def _say(found: Found, *, unseen: bool) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for entry, held in found:
        for one in held:
            counted[one.claim.kind, one.state] += 1
            if one.state == "fails" or (unseen and one.state == "unseen"):
                about = f"{one.claim.where} {one.claim.text}".strip()
                print(f"{entry.id}: {one.claim.kind}: {about}: {one.said or 'no catalog can tell'}")
    for (kind, state), count in sorted(counted.items()):
        print(f"{kind:8} {state:7} {count:5}")


if __name__ == "__main__":
    raise SystemExit(main())
