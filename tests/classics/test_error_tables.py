"""Each message of the error tables, alone, leads to a cause that was named for it beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_tables import messages, results

from trainrx.knowledge.load import load

MESSAGES = [one for path in sorted(Path(__file__).parent.glob("*.yaml")) for one in messages(path)]
MANY = 25
"""Messages asked in one test."""


@pytest.mark.parametrize("first", range(0, len(MESSAGES), MANY))
def test_a_classical_message_leads_to_its_cause(first: int) -> None:
    asked = [message for message in MESSAGES[first : first + MANY] if not message.missed]

    led = list(results(asked))

    assert {
        message.line: causes
        for message, result, causes in led
        if result not in ("right", "suspected")
    } == {}


def test_expected_causes_are_known() -> None:
    known = set(load().causes)

    expected = {one for message in MESSAGES if not message.missed for one in message.expect}

    assert expected - known == set()
