"""What a history knows of a failure: how often it was seen since when, and what helped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import msgspec

from trainrx.model.result import Diagnosis, Recurrence, SolvedBy
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import View
from trainrx.sanitizer.controls import clean

LABEL = Text(en="Seen", zh="历史")
ONCE = Text(en="once before, on {when}", zh="此前出现 1 次（{when}）")
OFTEN = Text(en="{n} times since {when}", zh="自{when}以来出现 {n} 次")
SOLVED = Text(en="{n} solved by `{param}`", zh="{n} 次靠 `{param}` 解决")
SOLVED_SOMEHOW = Text(en="{n} solved", zh="{n} 次已解决")
NO_HELP = Text(
    en="`{param}` did not help in {n} of {tried}", zh="`{param}` 在 {tried} 次中有 {n} 次无效"
)
WEEKDAYS = (
    Text(en="Monday", zh="周一"),
    Text(en="Tuesday", zh="周二"),
    Text(en="Wednesday", zh="周三"),
    Text(en="Thursday", zh="周四"),
    Text(en="Friday", zh="周五"),
    Text(en="Saturday", zh="周六"),
    Text(en="Sunday", zh="周日"),
)
A_WEEK = timedelta(days=6)


def recurrence_line(answer: Diagnosis, view: View) -> doc.Labelled | None:
    """Say in a line how often the failure was seen; None where no history knows it."""
    found = answer.history
    if isinstance(found, msgspec.UnsetType):
        return None
    said = view.say(words.COMMA).join(_said(found, view))
    return doc.Labelled(view.say(LABEL), (said,), most=2)


def since_text(at: float, now: float, view: View) -> str:
    """Name a day: a weekday within the last week, else the date; both in UTC."""
    day, today = (datetime.fromtimestamp(t, tz=timezone.utc).date() for t in (at, now))
    return view.say(WEEKDAYS[day.weekday()]) if today - day <= A_WEEK else day.isoformat()


def _said(found: Recurrence, view: View) -> Iterator[str]:
    when = since_text(found.first, found.now, view)
    yield view.say(ONCE if found.count == 1 else OFTEN, n=found.count, when=when)
    for one in found.solved if view.everything else found.solved[:1]:
        if one.worked:
            text = SOLVED if one.param else SOLVED_SOMEHOW
            yield view.say(text, n=one.worked, param=_named(one))
        if one.param and one.failed and (view.everything or not one.worked):
            tried = one.worked + one.failed
            yield view.say(NO_HELP, param=_named(one), n=one.failed, tried=tried)


def _named(one: SolvedBy) -> str:
    return clean(one.param).replace("`", "'")
