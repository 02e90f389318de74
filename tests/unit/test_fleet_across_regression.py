from collections.abc import Iterable

from fleet_answers import DAY, MONDAY, failed, healthy

from trainrx.fleet.across.regression import Difference, regression
from trainrx.fleet.record import JobAnswer
from trainrx.fleet.report.comparison import document
from trainrx.render.document import View
from trainrx.render.formats.text import write


def _runs(made, versions: Iterable[str], lines: str, first: int) -> list[JobAnswer]:
    return [
        made(
            f"{made.__name__}-{number}",
            versions={"torch": version, "ms-swift": "3.2.1"},
            launch_lines=(f"seed={number}", *lines.split()),
            launch_places=tuple(f"run.sh:{at}" for at in range(9)),
            folder=f"/runs/{number}",
            started=MONDAY + (first + number) * DAY,
        )
        for number, version in enumerate(versions)
    ]


def _named(found: Iterable[Difference]) -> dict[str, Difference]:
    return {one.name: one for one in found}


GOOD = _runs(healthy, ("2.4.0", "2.4.1", "2.5.1"), "lr=1e-5 packing=false", 0)
BAD = _runs(failed, ("2.10.0", "2.6.0", "2.6.1"), "lr=1e-5 packing=true attn=sdpa", 10)


def test_the_first_bad_version_follows_the_last_good_one() -> None:
    found = regression(GOOD, BAD).differences

    torch = _named(found)["torch"]
    assert (torch.last_good, torch.first_bad, torch.separates) == ("2.5.1", "2.6.0", True)
    assert "ms-swift" not in _named(found)


def test_the_first_bad_line_of_the_launch_is_found_with_the_run_that_has_it() -> None:
    found = regression(GOOD, BAD)

    packing = _named(found.differences)["packing"]
    assert (packing.good, packing.bad) == ((("false", 3),), (("true", 3),))
    assert packing.changed
    assert packing.place == "/runs/0/run.sh:2"
    assert _named(found.differences)["attn"].good == (("", 3),)
    assert (found.last_good, found.first_bad) == ("healthy-2", "failed-0")
    assert "lr" not in _named(found.differences)


def test_what_only_differs_from_run_to_run_is_no_difference() -> None:
    mixed = _runs(failed, ("2.4.0", "2.4.1", "2.5.1"), "lr=1e-5 packing=false", 10)

    assert regression(GOOD, mixed).differences == ()


def test_good_and_bad_versions_that_are_mixed_have_no_first_bad_one() -> None:
    bad = _runs(failed, ("2.3.0", "2.6.0", "2.6.0"), "lr=1e-5 packing=false", 10)

    torch = _named(regression(GOOD, bad).differences)["torch"]

    assert (torch.separates, torch.first_bad) == (True, "")


def test_what_an_older_version_breaks_is_good_from_the_next_one_on() -> None:
    bad = _runs(failed, ("2.1.0", "2.3.1"), "lr=1e-5 packing=false", 10)

    torch = _named(regression(GOOD, bad).differences)["torch"]

    assert (torch.last_good, torch.first_bad) == ("2.4.0", "2.3.1")


def test_a_comparison_is_said_in_both_languages() -> None:
    found = regression(GOOD, BAD)

    english, chinese = (
        write(document(found, View(lang, 100)), View(lang, 100)) for lang in ("en", "zh")
    )

    assert "good up to 2.5.1, bad from 2.6.0" in english.replace("`", "")
    assert "The first bad run is failed-0" in english
    assert "\n    /runs/0/run.sh:2\n" in english
    assert "到 2.5.1 为止正常" in chinese.replace("`", "")
