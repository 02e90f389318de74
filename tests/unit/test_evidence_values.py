from __future__ import annotations

import pytest

from trainrx.evidence.values import typed
from trainrx.model.facts import Scalar
from trainrx.model.knowledge import CaptureType


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("9.27 GiB", "gib", 9.27),
        ("1024.00 MiB", "gib", 1.0),
        ("2 TiB", "gib", 2048.0),
        ("512 KiB", "gib", 0.000488),
        ("1073741824 bytes", "gib", 1.0),
        ("1,073,741,824 B", "gib", 1.0),
        ("79.15", "gib", 79.15),
        ("24GB", "gib", 24.0),
        ("much", "gib", None),
        ("12,288", "int", 12288),
        ("-9", "int", -9),
        ("1e-05", "float", 1e-05),
        ("nan", "float", None),
        ("inf", "int", None),
        ("three", "int", None),
        ("1800000 milliseconds", "seconds", 1800.0),
        ("1800000ms", "seconds", 1800.0),
        ("600", "seconds", 600.0),
        ("30 min", "seconds", 1800.0),
        ("2 hours", "seconds", 7200.0),
        ("later", "seconds", None),
        ("ALLREDUCE", "text", "ALLREDUCE"),
    ],
)
def test_captures_are_read_in_the_unit_of_their_type(
    text: str, kind: CaptureType, value: Scalar | None
) -> None:
    assert typed(text, kind) == value
