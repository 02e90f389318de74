import msgspec
from fleet_answers import failed, fleet, healthy

from trainrx.fleet.across.suspects import Suspect, suspects
from trainrx.fleet.record import JobAnswer

NODES = tuple(f"gpu-{number:02}" for number in range(50))


def _on(answers: list[JobAnswer], axis: str) -> list[Suspect]:
    return [one for one in suspects(answers) if one.axis == axis]


def test_a_bad_node_among_fifty_is_named_first_and_its_neighbours_are_not() -> None:
    found = [_on(fleet(1500, NODES, seed, bad="gpu-17"), "node") for seed in range(10)]

    first = [one[0].name for one in found if one]
    others = [suspect.name for one in found for suspect in one[1:]]
    assert first.count("gpu-17") == len(first) >= 9
    assert len(others) <= 1
    worst = found[0][0]
    assert worst.failed / worst.jobs > 2 * worst.other_failed / worst.other_jobs
    assert worst.failed > 1.5 * worst.expected
    assert worst.corrected <= 0.05


def test_where_failures_are_uniform_hardly_a_fleet_of_two_hundred_has_a_suspect() -> None:
    fleets = (fleet(100, NODES[:15], 1000 + seed, rate=0.3) for seed in range(200))

    alarms = sum(bool(suspects(answers)) for answers in fleets)

    assert alarms <= 10


def test_who_breaks_every_job_on_one_node_throws_no_suspicion_on_it() -> None:
    theirs = [
        failed(f"t-{n}", user="tyro", nodes=("gpu-03",), launch_digest=f"t{n}") for n in range(30)
    ]
    others = fleet(600, NODES, 7, rate=0.1)

    assert _on([*others, *theirs], "node") == []


def test_a_broken_launch_that_is_started_again_counts_once() -> None:
    again = [
        failed(
            f"a-{n}", user="user-1", nodes=("gpu-03",), launch_digest="broken", fingerprint="1:a"
        )
        for n in range(30)
    ]
    others = fleet(600, NODES, 7, rate=0.1)

    assert _on([*others, *again], "node") == []


def test_a_bad_version_and_what_always_comes_with_it_are_named_together() -> None:
    pairs = [{"torch": "2.5.1", "vllm": "0.6.4"}, {"torch": "2.4.0", "vllm": "0.6.2"}]
    runs = [
        msgspec.structs.replace(
            (failed if number % 10 < (6 if number % 2 else 1) else healthy)(f"job-{number}"),
            versions=pairs[number % 2 == 0],
            launch_digest=str(number),
            image=f"train:{number % 2}",
        )
        for number in range(200)
    ]

    versions, images = _on(runs, "version"), _on(runs, "image")

    assert {versions[0].name, *versions[0].together} == {"torch 2.5.1", "vllm 0.6.4"}
    assert [one.name for one in images] == ["train:1"]
    assert versions[0].causes[0][0] == "pixels-not-capped"


def test_one_kind_of_failure_gives_a_node_away_where_all_kinds_do_not() -> None:
    runs = fleet(1500, NODES, 3, rate=0.3)
    broken = [number for number, run in enumerate(runs) if "gpu-08" in run.nodes][:12]
    for number in broken:
        runs[number] = msgspec.structs.replace(
            runs[number], verdict="diagnosed", causes=(("gpu-fell-off-the-bus", 0.9),)
        )

    (suspect,) = _on(runs, "node")

    assert (suspect.name, suspect.kind, suspect.failed) == ("gpu-08", "gpu-fell-off-the-bus", 12)
    assert suspect.other_failed == 0
