"""Where ranks stand, on the screen."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from diagnoses import oom

from trainrx.model.result import Diagnosis, RankPlace, RankReport, RankTreeLine
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.document import View

Role = Literal["culprit", "waiting", ""]


def place(rank: int | None, state: str, frame: str, op: str = "", role: Role = "") -> RankPlace:
    return RankPlace(rank=rank, frame=frame, state=state, id=state, op=op, pid=7, role=role)


WAITS = [place(rank, "waits", "train.py:8 fit", "barrier", "waiting") for rank in (0, 1, 2, 4)]
READS = place(3, "reads a file", "dataset.py:42 __getitem__", role="culprit")
REPORT = RankReport(
    culprits=(3,),
    waiting=(0, 1, 2, 4),
    stuck=True,
    places=(*WAITS, READS),
    tree=(
        RankTreeLine(ranks="0-4", frame="train.py:80 main", depth=0),
        RankTreeLine(ranks="3", frame="dataset.py:42 __getitem__", depth=1),
    ),
)


def with_ranks(report: RankReport, lang: Lang = "en") -> Diagnosis:
    return msgspec.structs.replace(oom(lang), ranks=report)


def text(answer: Diagnosis, *, everything: bool = False) -> str:
    shown = render(answer, "text", View(answer.lang, width=100, everything=everything))
    return " ".join(shown.split())


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "rank 3 reads a file: dataset.py:42 __getitem__"),
        ("en", "ranks 0-2,4 wait for it (barrier): train.py:8 fit"),
        ("zh", "rank 0-2,4 在等它（barrier）：train.py:8 fit"),
    ],
)
def test_the_first_screen_says_who_waits_for_whom(lang: Lang, said: str) -> None:
    assert said in text(with_ranks(REPORT, lang))


def test_the_page_has_the_tree_of_all_stacks() -> None:
    page = text(with_ranks(REPORT), everything=True)

    assert "0-4 train.py:80 main" in page
    assert "3 dataset.py:42 __getitem__" in page


def test_a_rank_that_is_missing_is_named() -> None:
    gone = RankReport(missing=(3,), waiting=(0, 1, 2, 4), stuck=True, places=tuple(WAITS))

    assert "rank 3 was not seen" in text(with_ranks(gone))


def test_nothing_is_said_of_ranks_that_move_on() -> None:
    report = RankReport(stuck=False, places=(*WAITS, READS))

    assert "reads a file" not in text(with_ranks(report), everything=True)


def test_a_process_whose_rank_nobody_knows_is_named_by_its_number() -> None:
    held = place(None, "reads a file", "dataset.py:42 __getitem__", role="culprit")
    report = RankReport(stuck=True, places=(*WAITS, held))

    assert "pid 7 reads a file: dataset.py:42 __getitem__" in text(with_ranks(report))


def test_ranks_that_all_stand_at_one_place_are_named_together() -> None:
    same = tuple(place(rank, "asks a server", "reward.py:14 score") for rank in (0, 1))

    said = text(with_ranks(RankReport(stuck=True, places=same)))

    assert "each of ranks 0-1 asks a server: reward.py:14 score" in said
