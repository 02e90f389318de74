"""Messages are read from sources without running them, and known ones are told from others."""

from __future__ import annotations

from pathlib import Path

from trainrx.entries.tests import PreparedRules
from trainrx.knowledge.load import load
from verify.messages import raised, symptoms_of

SOURCE = """
def read(split, there, rank):
    if split not in there:
        raise ValueError(f'Unknown split "{split}". Should be one of {list(there)}.')
    if rank < 0:
        raise errors.RankError("The rank {} of this ".format(rank) + "job is below zero")
    raise RuntimeError(message)
"""


def test_messages_are_as_they_would_be_printed(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_read.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("def (")
    (tmp_path / "read.py").write_text(SOURCE)

    found = [(one.text, one.place) for one in raised(tmp_path)]

    assert found == [
        ('ValueError: Unknown split "value". Should be one of value.', "read.py:4"),
        ("RankError: The rank value of this job is below zero", "read.py:6"),
    ]


def test_a_message_counts_as_known_by_a_symptom_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "read.py").write_text(SOURCE.replace("{list(there)}", "[{there}]"))
    rules = PreparedRules(load())

    known = [symptoms_of(one, rules) for one in raised(tmp_path)]

    rules.close()
    assert known == [("dataset-split-unknown",), ()]
