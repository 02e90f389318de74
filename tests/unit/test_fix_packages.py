from __future__ import annotations

import msgspec

from trainrx.fix.changes import Target
from trainrx.fix.plan import plan
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.knowledge import Cause, Fix, PackageChange
from trainrx.model.result import FixOut
from trainrx.model.text import Text

KNOWN = load()
WORDS = Text(en="words", zh="文字")


def planned(fix: dict[str, object], versions: dict[str, str], **given: Scalar) -> list[FixOut]:
    made = Fix(id="it", title=WORDS, safety="safe", cost=WORDS, **fix)
    cause = next(iter(KNOWN.causes.values()))
    facts = Facts(fact(name.replace("__", "."), value) for name, value in given.items())
    job = Target(facts=facts, knowledge=KNOWN, versions=versions, style="arg", lang="en")
    return list(plan(_with(cause, made), job).fixes)


def _with(cause: Cause, fix: Fix) -> Cause:
    return msgspec.structs.replace(cause, fixes=(fix,))


def test_a_set_is_one_command_and_a_change_per_package() -> None:
    (fix,) = planned(
        {"consistent_set": True},
        {"ms-swift": "3.2.1", "transformers": "4.53.0", "trl": "0.19.1"},
        launch__framework="ms-swift",
    )

    assert fix.commands == ('pip install "transformers==4.50.3" "trl==0.16.1"',)
    assert [(c.kind, c.param, c.from_, c.to, c.action) for c in fix.changes] == [
        ("package", "transformers", "4.53.0", "==4.50.3", "downgrade"),
        ("package", "trl", "0.19.1", "==0.16.1", "downgrade"),
    ]


def test_the_framework_moves_where_the_model_needs_more_than_it_allows() -> None:
    (fix,) = planned(
        {"consistent_set": True},
        {"ms-swift": "3.2.1", "transformers": "4.49.0"},
        launch__framework="ms-swift",
        model__needs_transformers=">=4.51.0",
    )

    assert {c.param for c in fix.changes} == {"ms-swift", "transformers"}


def test_no_set_is_offered_where_the_versions_fit_or_are_not_known() -> None:
    assert planned({"consistent_set": True}, {"trl": "0.24.0", "transformers": "4.57.1"}) == []
    assert planned({"consistent_set": True}, {}) == []


def test_a_range_a_fact_tells_is_installed() -> None:
    wanted = (PackageChange(name="trl", spec="$packages.trl_range"),)

    (fix,) = planned({"packages": wanted}, {"trl": "0.19.1"}, packages__trl_range=">=0.13,<0.17")

    assert fix.changes[0].spelled == 'pip install "trl>=0.13,<0.17"'
    assert planned({"packages": wanted}, {"trl": "0.19.1"}) == []


def test_a_check_that_names_only_the_oldest_version_gets_that_or_newer() -> None:
    (fix,) = planned(
        {"packages": (PackageChange(name="required", spec=""),)},
        {},
        requirement__package="flashinfer_python",
        requirement__minimum="0.6.4",
    )

    assert [(c.param, c.to) for c in fix.changes] == [("flashinfer_python", ">=0.6.4")]


def test_a_missing_requirement_is_installed_in_its_range() -> None:
    wanted = (PackageChange(name="missing-module", spec=""),)

    (fix,) = planned({"packages": wanted}, {}, missing__module="bitsandbytes>=0.39.0")

    assert [(c.param, c.to) for c in fix.changes] == [("bitsandbytes", ">=0.39.0")]
