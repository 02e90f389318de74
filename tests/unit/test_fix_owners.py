"""What of a remedy belongs to another framework than the one that runs."""

from __future__ import annotations

import msgspec
import pytest

from trainrx.fix.changes import Target
from trainrx.fix.measures import is_in_part_of_others, is_package_of_others, running
from trainrx.fix.plan import plan
from trainrx.knowledge.load import load
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.knowledge import Cause, Fix, Measure, PackageChange
from trainrx.model.text import Text

VERL = fact("launch.framework", "verl")


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ((), ()),
        ((VERL,), ("verl",)),
        ((fact("launch.package", "skyrl"),), ("skyrl",)),
        ((VERL, fact("launch.package", "skyrl")), ("verl", "skyrl")),
        ((fact("launch.package", "deepspeed"),), ()),
    ],
)
def test_a_library_in_question_is_not_what_runs(
    told: tuple[Fact, ...], names: tuple[str, ...]
) -> None:
    assert running(Facts(told)) == names


@pytest.mark.parametrize(
    ("package", "told", "elsewhere"),
    [
        ("skyrl", (VERL,), True),
        ("verl", (VERL,), False),
        ("verl", (), False),
        ("verl", (fact("launch.package", "trinity-rft"),), False),
        ("trl", (VERL,), False),
        ("transformers", (VERL,), False),
        ("skyrl", (VERL, fact("failure.package", "skyrl")), False),
    ],
)
def test_a_release_of_another_framework_does_not_matter(
    package: str, told: tuple[Fact, ...], *, elsewhere: bool
) -> None:
    assert is_package_of_others(package, Facts(told)) is elsewhere


def _plan(fix: Fix, *told: Fact) -> list[str]:
    knowledge = load()
    cause: Cause = knowledge.causes["nccl-p2p-broken"]
    job = Target(facts=Facts(told), knowledge=knowledge, versions={}, style="arg", lang="en")
    made = plan(msgspec.structs.replace(cause, fixes=(fix,)), job)
    return [change.param for item in made.fixes for change in item.changes]


WORDS = Text(en="a", zh="一")
STEPS = Fix(
    id="x",
    title=WORDS,
    safety="safe",
    cost=WORDS,
    measures=(Measure(kind="arg", param="use_tis", action="add", of=("slime",)),),
    packages=(PackageChange(name="slime", spec=">0.2"),),
    steps=WORDS,
)


def test_a_remedy_all_of_whose_changes_are_of_others_is_left_out_with_its_steps() -> None:
    assert is_in_part_of_others(STEPS, Facts([VERL]))
    assert _plan(STEPS, VERL) == []
    assert _plan(STEPS) == ["slime", "use_tis"]


def test_steps_without_any_change_are_for_all() -> None:
    bare = msgspec.structs.replace(STEPS, measures=(), packages=())

    assert not is_in_part_of_others(bare, Facts([VERL]))
