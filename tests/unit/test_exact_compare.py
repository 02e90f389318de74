"""Closed form beside count: plain records, no torch."""

import pytest

from trainrx.exact import ExactResult, compare
from trainrx.exact.record import PartUse, PhasePeak
from trainrx.exact.run import part_of
from trainrx.model.memory import Figure, HostUse, PhaseUse, Prediction, Term


def terms(**sizes):
    return tuple(Term(name=name.replace("_", "-"), gib=gib) for name, gib in sizes.items())


def prediction(**phases):
    uses = tuple(
        PhaseUse(phase=phase, gib=sum(one.gib for one in parts), terms=parts)
        for phase, parts in phases.items()
    )
    top = max(one.gib for one in uses)
    figure = Figure(gib=top, low=top, high=top)
    return Prediction(
        allocated=figure,
        reserved=figure,
        card=figure,
        peak="loss",
        phases=uses,
        host=HostUse(resident=0, peak=0, terms=()),
    )


def counted(**phases):
    peaks = tuple(
        PhasePeak(
            phase=phase,
            gib=sum(parts.values()),
            parts=tuple(PartUse(name=name, gib=gib) for name, gib in parts.items()),
        )
        for phase, parts in phases.items()
    )
    top = max(peaks, key=lambda one: one.gib)
    return ExactResult(
        allocated=top.gib,
        peak=top.phase,
        phases=peaks,
        parameters_b=7.2,
        trained_b=0.01,
        model_class="MistralForCausalLM",
        torch="2.13.0",
        transformers="5.19.0",
    )


def test_parts_stand_beside_each_other_at_the_counts_peak():
    closed = prediction(
        forward=terms(weights=13.5, activations=4.0),
        loss=terms(weights=13.5, activations=4.0, logits=7.5),
    )
    exact = counted(
        forward={"parameters": 13.5, "activations": 5.5},
        loss={"parameters": 13.5, "activations": 4.5, "logits": 6.0},
    )

    found = compare(closed, exact)

    assert found.peak == "loss"
    assert (found.allocated.closed, found.allocated.counted) == (25.0, 24.0)
    assert {one.name: (one.closed, one.counted) for one in found.parts} == {
        "parameters": (13.5, 13.5),
        "activations": (4.0, 4.5),
        "logits": (7.5, 6.0),
    }
    assert {one.name: (one.closed, one.counted) for one in found.phases} == {
        "forward": (17.5, 19.0),
        "loss": (25.0, 24.0),
    }


def test_part_without_a_closed_term_is_open():
    found = compare(
        prediction(loss=terms(weights=10.0)), counted(loss={"parameters": 10.0, "working": 2.0})
    )

    working = next(one for one in found.parts if one.name == "working")
    assert (working.closed, working.counted) == (None, 2.0)


def test_closed_term_of_no_known_part_is_other():
    found = compare(
        prediction(loss=terms(weights=10.0, mystery=1.0)), counted(loss={"parameters": 10.0})
    )

    other = next(one for one in found.parts if one.name == "other")
    assert (other.closed, other.counted) == (1.0, None)


def test_phase_the_closed_form_lacks_leaves_parts_open():
    found = compare(prediction(loss=terms(weights=10.0)), counted(step={"parameters": 11.0}))

    assert found.phases == ()
    assert [(one.name, one.closed) for one in found.parts] == [("parameters", None)]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("weights", "parameters"),
        ("gradients", "gradients"),
        ("optimizer-states", "optimizer"),
        ("master-weights", "optimizer"),
        ("step-temporary", "working"),
        ("live-layer", "working"),
        ("logits", "logits"),
        ("checkpoints", "activations"),
        ("gathered-layers", "gathered"),
        ("nccl", None),
    ],
)
def test_terms_are_told_by_their_names(name, part):
    assert part_of(Term(name=name, gib=1.0)) == part
