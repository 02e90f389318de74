"""Whether a fix ends its range where the package gained or lost the name it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from packaging.version import Version

from trainrx.catalog.catalog import catalog, plain
from trainrx.knowledge.conditions import parts_of
from trainrx.knowledge.places import data_folder, held_in
from trainrx.knowledge.symbols import FOLDER
from trainrx.model.knowledge import Fix
from trainrx.model.packages import Symbols

ELSEWHERE = {
    ("megatron-core", "TensorParallelMuon"): "it moved to another module with 0.18",
    ("transformers", "experts_implementation"): "argument of from_pretrained",
    ("transformers", "padding_side"): "argument of the model's own tokenizer",
    ("transformers", "parallelism_config"): "argument of Accelerator",
    ("transformers", "return_dict"): "argument of Liger's loss",
    ("transformers", "sp_model"): "attribute of the model's own tokenizer",
    ("trl", "dataset_batch_size"): "argument of the trainer",
    ("trl", "dataset_num_proc"): "argument of the trainer",
    ("trl", "loss_type"): "argument of the trainer",
    ("trl", "neftune_noise_alpha"): "argument of the trainer",
}
"""Names that a package has of its own besides the one that a fix is about."""
_CAPTURES = ("name", "keyword", "argument")
"""Fields of a symptom that hold a name of code."""
_TELLING = re.compile(r"[A-Z_]")
"""What a name has that is no plain word, which many things of a package are called by."""
_END = re.compile(r"(<|>=)\s*(\d[\w.]*)")


def ends_of(fix: Fix) -> Iterator[tuple[str, str, str]]:
    """Give package, name and range of a fix that is offered where a name is missed or refused."""
    names = dict.fromkeys(
        name
        for part in (parts_of(fix.only_if) if fix.only_if is not None else ())
        for field in _CAPTURES
        if isinstance(name := (part.if_ or {}).get(field), str) and _TELLING.search(name)
    )
    for package in fix.packages:
        if _END.fullmatch(package.spec):
            for name in names:
                yield package.name, name, package.spec


def off(package: str, name: str, spec: str) -> str | None:
    """Say with which releases a name came or went where a range ends at none of them.

    "" where it ends at one, None where nothing is known of the name.
    """
    side, release = _END.fullmatch(spec).groups()  # type: ignore[union-attr]
    known = _in_catalog(package, name, side) | _in_files(package).get((name, side), frozenset())
    if not known or (package, name) in ELSEWHERE:
        return None
    if Version(release) in known:
        return ""
    return f"it {'went' if side == '<' else 'came'} with {', '.join(map(str, sorted(known)))}"


def _in_catalog(package: str, name: str, side: str) -> frozenset[Version]:
    known = catalog(package)
    spans = [span for option in known.find(plain(name)) for span in option.spans]
    if side == "<":
        return frozenset(Version(until) for _, until in spans if until)
    return frozenset(Version(since) for since, _ in spans if since != known.releases[0])


@lru_cache(maxsize=32)
def _in_files(package: str) -> dict[tuple[str, str], frozenset[Version]]:
    """Give the releases with which names came (>=) and went (<), as the released files say."""
    found: dict[tuple[str, str], set[Version]] = {}
    for line in (held_in(f"{data_folder(FOLDER)}/{package}.jsonl") or b"").splitlines():
        entry = msgspec.json.decode(line, type=Symbols)
        for spec, names in ((entry.releases, entry.of), *entry.names.items()):
            for side, release in _END.findall(spec):
                for name in names.split():
                    found.setdefault((name, side), set()).add(Version(release))
    return {key: frozenset(releases) for key, releases in found.items()}
