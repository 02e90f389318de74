from __future__ import annotations

import msgspec
import pytest
from log_signatures import OOM_LINE

from trainrx.collect.session import AlertBook, WatchSession
from trainrx.collect.stall import StallRule
from trainrx.collect.state import WatchAlert
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError

RULE = StallRule()
OOM = WatchAlert(kind="failed", family="oom")
HANG = WatchAlert(kind="stalled", family="hang")


def test_an_alert_is_given_once_until_it_is_over():
    book = AlertBook()

    assert book.new([OOM]) == (OOM,)
    assert book.new([OOM, HANG]) == (HANG,)
    assert book.new([HANG]) == ()
    assert book.new([OOM, HANG]) == (OOM,)


def test_an_alert_that_is_held_is_given_later():
    book = AlertBook()

    assert book.new([OOM], hold=True) == ()
    assert book.new([OOM]) == (OOM,)


def test_a_failure_is_diagnosed_once_its_lines_have_ended(tmp_path):
    log = tmp_path / "train.log"
    log.write_text(OOM_LINE.format(gpu=0) + "\n", encoding="utf-8")
    session = WatchSession(Request(paths=(str(log),), cards=("80GiB",)), RULE, 100.0)

    early = session.look(100.0)
    settled = session.look(105.0)
    later = session.look(110.0)
    session.close()

    assert (early.state.outcome, early.state.cause, early.alerts) == ("failed", None, ())
    assert settled.state.cause is not None
    assert settled.state.cause.family == "oom"
    assert [alert.kind for alert in settled.alerts] == ["failed"]
    assert later.alerts == ()
    assert later.state.cause == settled.state.cause
    assert msgspec.json.decode(msgspec.json.encode(later.state))["outcome"] == "failed"


def test_a_file_that_is_not_there_is_waited_for(tmp_path):
    session = WatchSession(Request(paths=(str(tmp_path / "no.log"),)), RULE, 100.0)

    found = session.look(200_000.0)
    session.close()

    assert (found.state.outcome, found.alerts, found.grown) == ("waiting", (), 0)


def test_a_card_nobody_knows_is_refused(tmp_path):
    with pytest.raises(UsageError, match="--gpu A100"):
        WatchSession(Request(paths=(str(tmp_path),), cards=("A100",)), RULE, 0.0)
