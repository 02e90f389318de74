"""Fit which words of a note tell which kind of failure: writes kb/wording.json.

python -m fit.wording CASES_DIR... [--notes tests/cases/notes] [--left-out]

Learnt from are the notes of strict labelled cases, the same notes in other words
(`retold.jsonl`), the samples of observations in kb, and notes that tell of no failure
(`neutral.txt`, near misses). With --left-out each folder is foretold by a fit on all others.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from accuracy import read_cases
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from trainrx.knowledge.load import load
from trainrx.knowledge.words import words_of

ROOT = Path(__file__).resolve().parents[2]
FACES = {
    "oom": "seen-oom",
    "host_oom": "seen-host-memory-full",
    "init_hang": "seen-hang-at-start",
    "hang": "seen-hang",
    "growing_memory": "seen-memory-grows",
    "rank_imbalance": "seen-memory-uneven",
    "version_conflict": "seen-version-trouble",
    "config_error": "seen-config-trouble",
    "nan_loss": "seen-nan-loss",
    "slow": "seen-slow",
    "crash_other": "seen-crash",
}
"""The observation that stands for a kind of failure where nothing says more."""
KINDS = (*FACES, "")
SPREAD = 2.0
"""Standard deviation of a word's weight (nats), chosen by the folders left out."""
LEAST = 0.5
"""Probability from which on the answer is given: of the notes left out three in four are right."""
SAMPLE = 0.4
"""Weight of a sample of kb beside a note: it shows one phrase, not how people tell."""
KEPT = 0.1
"""A word all of whose weights are smaller is left out (nats)."""
FEWEST = 2
"""Texts a word must stand in."""

Array = NDArray[np.float64]


class Note(NamedTuple):
    """A text, the kind of failure it tells of ("" is none), where it is from, what it weighs."""

    text: str
    kind: str
    folder: str
    weight: float


class Words(NamedTuple):
    """What was fitted: the words, their weights by kind (words x kinds), the constants (nats)."""

    words: list[str]
    weights: Array
    constants: Array


def main() -> int:
    """Read, fit, write; or say how well folders left out are told."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--notes", type=Path, default=ROOT / "tests" / "cases" / "notes")
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "kb" / "wording.json")
    said = parser.parse_args()
    notes = [*_cases(said.folders, said.notes), *_samples(), *_neutral(said.notes)]
    if said.left_out:
        print("\n".join(_tried(notes, [folder.name for folder in said.folders])))
        return 0
    found = fit(notes)
    kept = np.abs(found.weights).max(axis=1) >= KEPT
    rows = zip(found.words, found.weights, kept, strict=True)
    words = {word: _rounded(row) for word, row, keep in rows if keep}
    head = {"faces": FACES, "constants": _rounded(found.constants)}
    head |= {"least": LEAST, "notes": len(notes)}
    said.out.write_text(_lines(head, words), encoding="utf-8")
    print(f"{said.out}: {len(notes)} notes, {len(words)} words", file=sys.stderr)
    return 0


def fit(notes: Sequence[Note]) -> Words:
    """Find the weights that are most probable: normal around zero, constants free."""
    found = [sorted(set(words_of(note.text))) for note in notes]
    count = Counter(word for words in found for word in words)
    words = sorted(word for word, number in count.items() if number >= FEWEST)
    column = {word: place for place, word in enumerate(words)}
    pairs = [(row, column[w]) for row, held in enumerate(found) for w in held if w in column]
    rows, columns = zip(*pairs, strict=True)
    matrix = csr_matrix((np.ones(len(pairs)), (rows, columns)), shape=(len(notes), len(words)))
    target = np.zeros((len(notes), len(KINDS)))
    for row, note in enumerate(notes):
        target[row, KINDS.index(note.kind)] = 1.0
    weight = np.array([note.weight for note in notes])[:, None]
    across = matrix.T.tocsr()

    def loss(flat: Array) -> tuple[float, Array]:
        table = flat.reshape(len(words) + 1, len(KINDS))
        odds = matrix @ table[:-1] + table[-1]
        shares = odds - logsumexp(odds, axis=1, keepdims=True)
        miss = weight * (np.exp(shares) - target)
        slope = np.vstack([across @ miss + table[:-1] / SPREAD**2, miss.sum(axis=0)[None, :]])
        value = 0.5 * ((table[:-1] / SPREAD) ** 2).sum() - (weight * target * shares).sum()
        return float(value), slope.ravel()

    start = np.zeros((len(words) + 1) * len(KINDS))
    best = minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(-1, len(KINDS))
    return Words(words, best[:-1], best[-1] - best[-1].mean())


def _cases(folders: Sequence[Path], notes: Path) -> Iterator[Note]:
    lines = (notes / "retold.jsonl").read_text(encoding="utf-8").splitlines()
    retold = {told["id"]: told for told in map(json.loads, lines)}
    for folder in folders:
        for case in read_cases(folder, strict=True):
            told = retold.get(case["id"], {})
            texts = (case.get("observed"), told.get("same"), told.get("other"))
            for text in filter(None, texts):
                yield Note(text, case["symptom"], folder.name, 1.0)


def _samples() -> Iterator[Note]:
    for symptom in load().symptoms.values():
        if symptom.role == "observation" and symptom.family is not None:
            for text in symptom.samples.match:
                yield Note(text, symptom.family, "kb", SAMPLE)
            for text in symptom.samples.near_miss:
                yield Note(text, "", "kb", SAMPLE)


def _neutral(notes: Path) -> Iterator[Note]:
    for text in (notes / "neutral.txt").read_text(encoding="utf-8").splitlines():
        yield Note(text, "", "kb", 1.0)


def _tried(notes: Sequence[Note], folders: Sequence[str]) -> Iterator[str]:
    yield f"{'left out':10}{'notes':>6}{'right':>7}{'given':>7}{'of these right':>16}"
    for folder in folders:
        asked = [note for note in notes if note.folder == folder]
        if not asked:
            continue
        found = fit([note for note in notes if note.folder != folder])
        shares = [_shares(note.text, found) for note in asked]
        right = np.array(
            [KINDS[int(s.argmax())] == n.kind for s, n in zip(shares, asked, strict=True)]
        )
        given = np.array([s.max() >= LEAST for s in shares])
        yield (
            f"{folder:10}{len(asked):6}{right.mean():7.2f}{given.mean():7.2f}"
            f"{right[given].mean() if given.any() else 0.0:16.2f}"
        )


def _shares(text: str, found: Words) -> Array:
    place = {word: row for row, word in enumerate(found.words)}
    held = [place[word] for word in set(words_of(text)) if word in place]
    odds = found.constants + found.weights[held].sum(axis=0)
    return np.asarray(np.exp(odds - logsumexp(odds)))


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 2) for value in values]


def _lines(head: dict[str, object], words: dict[str, list[float]]) -> str:
    """Write one word a line, so that a change of the fit can be read as a difference."""
    start = json.dumps(head, ensure_ascii=False)[:-1]
    body = (f"{json.dumps(w, ensure_ascii=False)}:{json.dumps(v)}" for w, v in words.items())
    return start + ',\n"words":{\n' + ",\n".join(body) + "\n}}\n"


if __name__ == "__main__":
    sys.exit(main())
