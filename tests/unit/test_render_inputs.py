from __future__ import annotations

from typing import get_args

from trainrx.model.job import InputKind, RepairKind
from trainrx.render.inputs import KINDS, REPAIRS


def test_every_kind_of_input_and_of_repair_has_its_words():
    assert set(KINDS) == set(get_args(InputKind))
    assert set(REPAIRS) == set(get_args(RepairKind))
