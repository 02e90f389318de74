"""How old the installed framework is."""

from __future__ import annotations

import pytest

from trainrx.catalog.catalog import catalog
from trainrx.facts.releases import release_facts, template_facts
from trainrx.model.facts import Facts, fact

NEWEST = catalog("ms-swift").releases[-1]
BEFORE = catalog("ms-swift").releases[-2]


def _told(version: str | None, framework: str = "ms-swift") -> dict[str, object]:
    facts = Facts([fact("launch.framework", framework)])
    versions = {framework: version} if version is not None else {}
    return {item.kind: item.value for item in release_facts(facts, versions)}


def test_the_newest_release_is_not_behind() -> None:
    assert _told(NEWEST) == {"framework.releases_behind": 0, "framework.development": False}


def test_each_later_release_counts() -> None:
    assert _told(BEFORE)["framework.releases_behind"] == 1


def test_a_development_version_comes_before_its_release() -> None:
    told = _told(f"{NEWEST}.dev0")
    assert told == {"framework.releases_behind": 1, "framework.development": True}


def test_the_version_the_log_told_counts_when_none_is_listed() -> None:
    facts = Facts(
        [fact("launch.framework", "ms-swift"), fact("launch.framework_version", NEWEST)],
    )
    told = {item.kind: item.value for item in release_facts(facts, {})}
    assert told["framework.releases_behind"] == 0


@pytest.mark.parametrize("version", [None, "", "3", ">=3.9", "main", "not a version"])
def test_a_version_that_may_be_several_tells_nothing(version: str | None) -> None:
    assert _told(version) == {}


def test_a_framework_without_listed_releases_tells_nothing() -> None:
    assert _told("0.5.0", "colossalai") == {}


@pytest.mark.parametrize(
    ("name", "known"), [("qwen", True), ("qwen3_vl", True), ("gemma4", True), ("qwen25", False)]
)
def test_a_refused_template_is_looked_up_in_all_releases(name: str, *, known: bool) -> None:
    facts = Facts([fact("template.refused", name)])

    assert {f.kind: f.value for f in template_facts(facts)} == {"template.in_a_release": known}


def test_without_a_refused_template_nothing_is_said() -> None:
    assert list(template_facts(Facts([]))) == []
