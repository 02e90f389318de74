from __future__ import annotations

import pytest

from trainrx.cli import main
from trainrx.share import bots


@pytest.mark.parametrize("platform", bots.names())
def test_a_bot_says_which_variables_it_lacks(platform, monkeypatch, capsys):
    variables = bots.load(platform).VARIABLES
    for name in variables:
        monkeypatch.delenv(name, raising=False)

    status = main(["bot", platform, "--check"])

    assert status == 2
    said = capsys.readouterr().err
    assert [name for name in variables if name not in said] == []


def test_what_a_check_finds_missing_is_named_and_told_by_the_exit_status(monkeypatch, capsys):
    monkeypatch.setenv("WECOM_TOKEN", "t")
    monkeypatch.setenv("WECOM_ENCODING_AES_KEY", "short")

    status = main(["bot", "wecom", "--check", "--lang", "zh"])

    assert status == 2
    said = capsys.readouterr().err
    assert "EncodingAESKey" in said
    assert "missing" not in said


def test_a_bot_there_is_none_of_is_told_from_those_there_are(capsys):
    status = main(["bot", "irc", "--lang", "zh"])

    assert status == 2
    said = capsys.readouterr().err
    assert "没有用于 irc 的机器人" in said
    assert "slack" in said
