"""Each message of the error tables, alone, leads to a cause that was named for it beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_tables import messages, results, table

from trainrx.knowledge.load import load

MESSAGES = [one for path in sorted(Path(__file__).parent.glob("*.yaml")) for one in messages(path)]
MANY = 25
"""Messages asked in one test."""
TWINS = {
    "bitsandbytes",
    "collective-timeout",
    "device-held",
    "device-side-assert",
    "driver-older-than-runtime",
    "flash-attention",
    "forked-process",
    "illegal-memory-access",
    "invalid-device-ordinal",
    "kernel-compiler",
    "kernel-too-long",
    "launch-failure",
    "library-not-found",
    "library-of-another-build",
    "link-fault",
    "math-library",
    "memory-error-or-xid",
    "no-device",
    "no-kernel-for-this-card",
    "no-room-for-a-library",
    "out-of-device-memory",
    "peer-copies",
    "peers-not-found",
    "port-taken",
    "ranks-disagree",
    "rdma-error",
    "torch-without-cuda",
    "type-not-supported",
    "unhandled-error",
    "visible-devices",
}
"""The 30 most common failures of CUDA that other machines print in words of their own."""


@pytest.mark.parametrize("first", range(0, len(MESSAGES), MANY))
def test_a_classical_message_leads_to_its_cause(first: int) -> None:
    asked = [message for message in MESSAGES[first : first + MANY] if not message.missed]

    led = list(results(asked))

    assert {
        message.line: causes
        for message, result, causes in led
        if result not in ("right", "suspected")
    } == {}


@pytest.mark.parametrize("machine", ["ascend", "rocm"])
def test_each_common_failure_has_its_line_of_another_machine_or_says_why_not(machine: str) -> None:
    twins = table(Path(__file__).parent / f"twins_{machine}.yaml")

    lined = {line.of for line in twins.lines}

    assert lined | set(twins.without) == TWINS
    assert lined & set(twins.without) == set()
    assert [line.line for line in twins.lines if not line.source.startswith("https://")] == []


def test_expected_causes_are_known() -> None:
    known = set(load().causes)

    expected = {one for message in MESSAGES if not message.missed for one in message.expect}

    assert expected - known == set()
