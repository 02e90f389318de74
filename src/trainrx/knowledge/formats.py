"""Read what form each framework wants its data in: only who reads data pays for it."""

from __future__ import annotations

from functools import cache

from trainrx.knowledge.load import read_entry
from trainrx.knowledge.places import shipped
from trainrx.model.formats import DataFormat

FORMATS = "formats"


@cache
def data_formats() -> dict[str, DataFormat]:
    """Read the forms of all frameworks, by framework.

    Raises:
        KnowledgeError: an entry is malformed.
    """
    folder = shipped()[0] / FORMATS
    entries = (read_entry(path, DataFormat) for path in sorted(folder.glob("*.yaml")))
    return {entry.id: entry for entry in entries}
