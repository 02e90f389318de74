import msgspec
import pytest
from diagnoses import oom

from trainrx.model.result import Recurrence, SolvedBy
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.document import View

DAY = 86_400.0
FRIDAY = 1_790_352_000.0  # 2026-09-25, a Friday, 16:00 UTC
FOUND = Recurrence(
    fingerprint="1:0123456789abcdef",
    count=14,
    first=FRIDAY - 4 * DAY,
    last=FRIDAY,
    now=FRIDAY,
    solved=(
        SolvedBy(param="MAX_PIXELS", value="602112", worked=11, failed=1),
        SolvedBy(param="freeze_vit", worked=1),
    ),
)


def _rendered(found: Recurrence, form: str, view: View) -> str:
    answer = msgspec.structs.replace(oom(view.lang), history=found)
    return render(answer, form, view)


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ("14 times since Monday, 11 solved by", "MAX_PIXELS")),
        ("zh", ("自周一以来出现 14 次，11 次靠", "MAX_PIXELS")),
    ],
)
def test_an_answer_says_how_often_the_failure_was_seen_and_what_helped(
    form: str, lang: Lang, said: tuple[str, ...]
) -> None:
    shown = _rendered(FOUND, form, View(lang, 200))

    assert all(part in shown for part in said)


def test_all_that_was_tried_is_said_where_everything_is_asked_for() -> None:
    shown = _rendered(FOUND, "text", View("en", 200, everything=True))

    short = _rendered(FOUND, "text", View("en", 200))

    assert "did not help in 1 of 12" in shown
    assert "did not help" not in short
    assert "freeze_vit" in shown.split("14 times", 1)[1].splitlines()[0]


def test_what_began_over_a_week_ago_is_said_by_its_date() -> None:
    old = msgspec.structs.replace(FOUND, first=FRIDAY - 40 * DAY)

    assert "14 times since 2026-08-16" in _rendered(old, "text", View("en", 200))


def test_a_failure_that_was_seen_once_is_said_to_be() -> None:
    once = msgspec.structs.replace(FOUND, count=1, solved=())

    assert "once before, on Monday" in _rendered(once, "text", View("en", 200))


def test_json_has_the_history_only_where_one_was_looked_up() -> None:
    with_one = msgspec.json.decode(_rendered(FOUND, "json", View("en")))
    without = msgspec.json.decode(render(oom(), "json", View("en")))

    assert with_one["history"]["solved"][0] == {
        "param": "MAX_PIXELS",
        "value": "602112",
        "worked": 11,
        "failed": 1,
    }
    assert "history" not in without
