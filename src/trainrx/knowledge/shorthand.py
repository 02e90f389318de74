"""What entries say in short, written out: shared fixes, and causes that only restate a symptom.

`fixes: [{fix: ID, ref: ...}]` stands for `fixes/ID.yaml` of the same folder, or of the shipped
knowledge; keys given beside `fix` replace those of that file. `restates: {symptom: ID, why: ...}`
stands for `explains: [ID]` and one vote that holds where the symptom is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast

from trainrx.knowledge.places import shipped
from trainrx.model.errors import KnowledgeError

FIXES = "fixes"
"""The folder of fixes that several entries offer."""
SHARED = "fix"
"""The key that names one of them."""
RESTATES = "restates"
USUAL_VOTE, USUAL_WEIGHT = "named", 2.4
_NO_MORE = "status"
"""A key that entries once had, and that said the same in each."""


def written_out(path: Path, data: object) -> object:
    """Give what an entry's file holds in full.

    Raises:
        KnowledgeError: it refers to a fix that is not there, or restates no symptom.
    """
    if not isinstance(data, dict):
        return data
    full = {key: value for key, value in data.items() if key != _NO_MORE}
    if RESTATES in full:
        full |= _restated(path, full, full.pop(RESTATES))
    if isinstance(full.get("fixes"), list):
        full["fixes"] = [_fix(path, at, fix) for at, fix in enumerate(full["fixes"])]
    return full


def shared_ids(data: object) -> tuple[str, ...]:
    """Give the shared fixes that an entry, as its file holds it, refers to."""
    fixes = data.get("fixes") if isinstance(data, dict) else None
    listed = fixes if isinstance(fixes, list) else []
    return tuple(str(fix[SHARED]) for fix in listed if isinstance(fix, dict) and SHARED in fix)


def _restated(path: Path, data: Mapping[str, object], said: object) -> dict[str, object]:
    if not isinstance(said, dict) or not isinstance(said.get("symptom"), str):
        raise KnowledgeError(str(path), RESTATES, "names no symptom")
    vote = {"id": USUAL_VOTE, "weight": USUAL_WEIGHT, **said}
    vote["when"] = {"symptom": vote.pop("symptom")}
    given = data.get("evidence")
    evidence = given if isinstance(given, dict) else {}
    others = evidence.get("supports", [])
    return {
        "explains": data.get("explains", [said["symptom"]]),
        "evidence": {**evidence, "supports": [vote, *others]},
    }


def _fix(path: Path, at: int, fix: object) -> object:
    if not isinstance(fix, dict) or SHARED not in fix:
        return fix
    own = dict(fix)
    ident = str(own.pop(SHARED))
    for root in (*_roots(path), shipped()[0]):
        file = root / FIXES / f"{ident}.yaml"
        if file.is_file():
            return {**_read(file, file.stat().st_mtime_ns), **own}
    raise KnowledgeError(str(path), f"fixes[{at}].fix", f"there is no fix {ident!r} in kb/fixes")


def _roots(path: Path) -> list[Path]:
    return [folder.parent for folder in path.parents if folder.name in ("causes", "guards")]


@lru_cache(maxsize=256)
def _read(file: Path, _changed: int) -> dict[str, object]:
    from trainrx.knowledge.yaml12 import read_yaml

    data = read_yaml(file)
    if not isinstance(data, dict):
        raise KnowledgeError(str(file), "", "must be a mapping of keys to values")
    return cast("dict[str, object]", data)
