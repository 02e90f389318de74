"""Give posts as they were pasted, and compare with the same posts cut into files by hand.

    python benchmarks/posts.py tests/cases/posts/*/ [--all] [--named] [--json OUT]

A post is a labelled case (`accuracy.py`) with one key more: `post`, what a person pasted. Its other
keys hold what a careful person would have handed over of that post, file by file (the peer, in the
same run). Printed are hit@1 and hit@3 of both, their ratio, and each post that answers less as a
paste (`<`) or more (`>`). The paste is asked alone: no card, no framework is named besides. Whose
repository a post stands in is often said by nothing in it: `--named` names the framework to both.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from accuracy import Names, asked, judge, read_cases
from accuracy_table import Outcome

from trainrx import diagnose
from trainrx.model.errors import UsageError
from trainrx.render import render
from trainrx.render.document import View

REFUSED: dict[str, Any] = {"symptoms": [], "causes": [], "verdict": "unknown"}
TOP = 5


class Pair(NamedTuple):
    """What was made of a post: of its parts as separate files, of the post itself."""

    files: Outcome
    paste: Outcome


def main() -> int:
    """Run, print, and give 2 where there is no post."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--all", action="store_true", help="inferred labels too")
    parser.add_argument("--named", action="store_true", help="the framework is named to the paste")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cases = [case for folder in given.folders for case in read_cases(folder, strict=not given.all)]
    cases = [case for case in cases if case.get("post")]
    if not cases:
        print("no case with the key post", file=sys.stderr)
        return 2
    names = Names()
    pairs = [compared(case, names, named=given.named) for case in cases]
    print("\n".join(table(pairs)))
    if given.json:
        rows = [{"files": one.files._asdict(), "paste": one.paste._asdict()} for one in pairs]
        given.json.write_text(json.dumps(rows, indent=1))
    return 0


def compared(case: dict[str, Any], names: Names, *, named: bool) -> Pair:
    """Ask for a post twice."""
    with tempfile.TemporaryDirectory() as folder:
        separate = asked(case, Path(folder))
        files = _answer(case["id"], separate)
    besides = {"framework": separate["framework"]} if named and "framework" in separate else {}
    paste = _answer(case["id"], {"paths": ("-",), "stdin": case["post"].encode(), **besides})
    return Pair(judge(case, files, names), judge(case, paste, names))


def _answer(ident: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        text = render(diagnose(**given, top=TOP), "json", View("en"))
    except UsageError as error:
        print(f"{ident}: {error}", file=sys.stderr)
        return REFUSED
    answer: dict[str, Any] = json.loads(text)
    return answer


def table(pairs: Sequence[Pair]) -> Iterable[str]:
    """Give the figures of both ways, their ratio, and the posts that differ."""
    count = len(pairs)
    files = [sum(pair.files.hit[at] for pair in pairs) for at in (0, 1)]
    paste = [sum(pair.paste.hit[at] for pair in pairs) for at in (0, 1)]
    yield f"{count:3} posts           hit@1          hit@3"
    for title, hits in (("separate files", files), ("paste", paste)):
        yield f"{title:18}" + "".join(f"{n:6} ({n / count:.3f})" for n in hits)
    ratios = (many / few if few else 1.0 for many, few in zip(paste, files, strict=True))
    yield f"{'ratio':18}" + "".join(f"{ratio:14.3f}" for ratio in ratios)
    symptoms = (
        sum(pair.files.symptom for pair in pairs),
        sum(pair.paste.symptom for pair in pairs),
    )
    yield f"symptom right: {symptoms[0]} as separate files, {symptoms[1]} as paste"
    for sign, wanted in (("<", -1), (">", 1)):
        yield from (_line(sign, pair) for pair in pairs if _change(pair) == wanted)


def _change(pair: Pair) -> int:
    """Give -1 where the paste answers less than the files, 1 where more, else 0."""
    files, paste = (_grade(outcome) for outcome in pair)
    return (paste > files) - (paste < files)


def _grade(outcome: Outcome) -> int:
    return sum(outcome.hit)


def _line(sign: str, pair: Pair) -> str:
    files, paste = (f"{_mark(outcome)} {', '.join(outcome.causes) or '-'}" for outcome in pair)
    return f"{sign} {pair.files.case}\n    files {files}\n    paste {paste}"


def _mark(outcome: Outcome) -> str:
    return f"hit@{('no', 3, 1)[_grade(outcome)]} {outcome.named or '-'} ({outcome.verdict})"


if __name__ == "__main__":
    sys.exit(main())
