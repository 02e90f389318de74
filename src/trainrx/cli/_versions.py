"""Versions on the command line: a file that lists them, or `name==version` itself."""

from __future__ import annotations

from pathlib import Path

from trainrx.model.errors import UsageError

VERSIONS_HELP = "Output of pip freeze, ds_report, ..., or ms-swift==3.2.1,torch==2.5.1 itself."


def versions_of(given: str | None, option: str) -> Path | dict[str, str] | None:
    """Give the file, or the versions written out; a file of that name goes first.

    Raises:
        UsageError: it is neither.
    """
    if given is None or given == "-" or Path(given).exists():
        return None if given is None else Path(given)
    if "=" not in given:
        return Path(given)
    from trainrx.versions.listing import read_versions

    listed = read_versions(given.replace(",", "\n").replace(" ", "\n"), option)
    found = listed.texts()
    if not found or listed.unread:
        why = f" ({listed.unread[0].reason})" if listed.unread else ""
        raise UsageError(
            f"{option} {given}: expected a file, or versions like ms-swift==3.2.1{why}"
        )
    return found
