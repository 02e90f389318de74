"""Read `retry.yaml`: what a plain restart does to each kind of failure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from trainrx.knowledge.places import shipped
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.errors import KnowledgeError
from trainrx.model.fixing import RetryRule

FILE = "retry.yaml"


def read_retry(kb: Sequence[Path] = ()) -> tuple[RetryRule, ...]:
    """Read the rules of the given folders, then the shipped ones: the first that applies counts.

    Raises:
        KnowledgeError: a file is malformed; names it and the key.
    """
    paths = [folder / FILE for folder in (*kb, shipped()[0])]
    return tuple(rule for path in paths if path.is_file() for rule in _rules(path))


def _rules(path: Path) -> tuple[RetryRule, ...]:
    try:
        return msgspec.convert(read_yaml(path), tuple[RetryRule, ...])
    except msgspec.ValidationError as problem:
        message, _, key = str(problem).partition(" - at `")
        raise KnowledgeError(str(path), key.rstrip("`").removeprefix("$"), message) from problem
