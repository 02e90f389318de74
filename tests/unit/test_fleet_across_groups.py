from fleet_answers import failed, healthy

from trainrx.fleet.across.cards import card_suspects
from trainrx.fleet.across.groups import grouped
from trainrx.fleet.across.runs import runs_of
from trainrx.fleet.history.store import ToldOutcome

XID = "NVRM: Xid (PCI:0000:{bus}:00): 79, GPU has fallen off the bus."


def _told(job: str, worked: bool) -> ToldOutcome:
    return ToldOutcome(job=job, param="MAX_PIXELS", value="1", worked=worked, told=0.0)


def test_hours_are_lost_by_causes_of_failed_jobs_and_repeats_are_folded() -> None:
    answers = [
        failed("a", launch_digest="1", fingerprint="1:x", gpu_hours=8.0),
        failed("b", launch_digest="1", fingerprint="1:x", gpu_hours=4.0),
        failed("c", launch_digest="2", fingerprint="1:x", gpu_hours=None),
        failed("d", "port-taken", gpu_hours=64.0),
        healthy("e", gpu_hours=1000.0),
    ]

    port, pixels = grouped(answers, "cause", [_told("a", True), _told("b", False)])

    assert (port.name, port.gpu_hours) == ("port-taken", 64.0)
    assert (pixels.jobs, pixels.failed, pixels.distinct) == (3, 3, 2)
    assert (pixels.gpu_hours, pixels.uncounted) == (12.0, 1)
    assert pixels.solved == (("MAX_PIXELS", 1),)


def test_a_job_on_two_nodes_counts_on_both_and_what_is_not_known_is_named_so() -> None:
    answers = [failed("a", nodes=("n1", "n2")), healthy("b", nodes=("n1",)), healthy("c")]

    groups = {one.name: (one.jobs, one.failed) for one in grouped(answers, "node")}

    assert groups == {"n1": (2, 1), "n2": (1, 1), "?": (1, 0)}


def test_hours_are_lost_by_parameters_the_answers_say_to_change() -> None:
    answers = [failed("a"), failed("b", changes=(("lr", "1e-5"), ("MAX_PIXELS", "1")))]

    groups = {one.name: one.gpu_hours for one in grouped(answers, "param")}

    assert groups == {"MAX_PIXELS": 16.0, "lr": 8.0}


def _xids(node: str, buses: str) -> list:
    return [
        failed(f"{node}-{n}", nodes=(node,), launch_digest=str(n), quoted=(XID.format(bus=bus),))
        for n, bus in enumerate(buses.split())
    ]


def test_a_card_that_its_node_keeps_naming_is_suspected_and_one_among_others_is_not() -> None:
    runs = runs_of([*_xids("bad", "3b 3b 3b 5e 3b 3b"), *_xids("even", "3b 5e 86 af 3b 5e 86 af")])

    (suspect,) = card_suspects(runs)

    assert (suspect.name, suspect.failed, suspect.expected) == ("bad PCI 3b:00", 5, 0.75)
    assert suspect.corrected <= 0.05
