"""What a run says of its jobs in the end."""

from trainrx.fleet.overview import MOST_TOLD, Overview, following, lines
from trainrx.fleet.record import JobAnswer


def test_the_most_frequent_comes_first_and_what_was_not_answered_is_told():
    found = Overview()
    for at in range(5):
        found.add(_answer(at, verdict="diagnosed", causes=(("a", 0.9),), cpu_seconds=0.1))
    found.add(_answer(6, verdict="unknown", outcome="unknown"))
    found.add(_answer(7, verdict="healthy", causes=(("b", 0.1),)))
    for at in range(MOST_TOLD + 2):
        found.add(_answer(at, outcome="killed", said="its process was ended by SIGKILL"))
    found.remember(_answer(at, verdict="diagnosed", causes=(("a", 0.9),)) for at in range(20, 23))

    said = list(lines(found, "en"))

    assert said[0] == "19 jobs answered, 3 were answered before"
    assert said[1] == "0 s of processors, 26 ms a job"
    assert said[said.index("Causes, and what to change") + 1 :][:2] == [
        "  a                      8",
        "  cause not known        1",
    ]
    assert said[-1] == "  ... and 2 others"
    assert "  k0: its process was ended by SIGKILL" in said


def test_what_to_run_next_is_said_in_both_languages():
    found = Overview()
    found.add(_answer(1, verdict="diagnosed", causes=(("a", 0.9),), folder="/runs/a b"))
    found.add(_answer(2, outcome="timed-out", said="took more than 60 s"))

    english, chinese = (
        "\n".join((*lines(found, lang), *following(found, "h.db", lang))) for lang in ("en", "zh")
    )

    assert "\n  diagnose '/runs/a b'\n" in english
    assert "diagnose fleet report --history h.db" in chinese
    assert "k2: 超过 60 s" in chinese
    assert list(following(Overview(), "", "en")) == []


def _answer(at: int, outcome="answered", **more) -> JobAnswer:
    return JobAnswer(key=f"k{at}", outcome=outcome, **more)
