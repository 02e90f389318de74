from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.entries.check_guards import affected_problems
from trainrx.knowledge.load import find_entry, load, read_folders
from trainrx.knowledge.packages import add_ranges, range_condition, range_votes, with_ranges
from trainrx.model.errors import KnowledgeError
from trainrx.model.packages import OsvRange, RangeEntry
from trainrx.model.parts import Condition
from trainrx.model.text import Text
from trainrx.render.document import View
from trainrx.render.explain import explained, listing
from trainrx.render.formats.text import page, plain

PACKAGE = """
schema: 1
package: torch
updated: "2026-11-21"
ranges:
  - id: torch-9-is-broken
    title: {en: torch 9 is broken, zh: torch 9 有问题}
    affected: [{introduced: "9.0.0", fixed: "9.0.1"}]
    when: {fact: model.is_moe, eq: true}
    cause: moe-zero3-stall
    weight: 2.0
    why: {en: This torch is broken., zh: 该 torch 有问题。}
    pin: ">=9.0.1"
    pins: {vllm: "<9"}
    references:
      - {id: a, kind: issue, url: "https://example.org/x", says: Broken., checked: "2026-11-21"}
"""


def folder_with(folder: Path, text: str, name: str = "torch") -> Path:
    path = folder / "packages" / f"{name}.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return folder


def the_range(folder: Path, text: str = PACKAGE) -> RangeEntry:
    return next(iter(read_folders([folder_with(folder, text)], []).ranges.values()))


def problems(folder: Path, text: str) -> list[str]:
    return [f"{key}: {said}" for _, key, said in affected_problems([the_range(folder, text)])]


def test_a_range_becomes_a_vote_and_a_fix_of_its_cause(tmp_path: Path) -> None:
    cause = load([folder_with(tmp_path, PACKAGE)]).causes["moe-zero3-stall"]

    vote = next(v for v in cause.evidence.supports if v.id == "torch-9-is-broken")
    fix = next(f for f in cause.fixes if f.id == "torch-9-is-broken")
    assert (vote.weight, vote.when) == (2.0, fix.only_if)
    assert [(p.name, p.spec) for p in fix.packages] == [("torch", ">=9.0.1"), ("vllm", "<9")]
    assert fix.title == Text(en="Install torch>=9.0.1, vllm<9", zh="安装 torch>=9.0.1, vllm<9")
    assert vote.id in range_votes(cause)
    assert next(r for r in cause.references if r.id == vote.ref).url == "https://example.org/x"


def test_a_range_speaks_only_for_affected_releases_and_its_condition(tmp_path: Path) -> None:
    condition = range_condition(the_range(tmp_path))

    assert condition == Condition(
        all=(
            Condition(package="torch", versions=">=9.0.0,<9.0.1"),
            Condition(fact="model.is_moe", eq=True),
        )
    )


def test_several_spans_are_alternatives(tmp_path: Path) -> None:
    text = PACKAGE.replace('"9.0.1"}]', '"9.0.1"}, {introduced: "9.2", last_affected: "9.3"}]')
    entry = the_range(tmp_path, text.replace("    when: {fact: model.is_moe, eq: true}\n", ""))

    assert range_condition(entry).any == (
        Condition(package="torch", versions=">=9.0.0,<9.0.1"),
        Condition(package="torch", versions=">=9.2,<=9.3"),
    )


@pytest.mark.parametrize(
    ("span", "spec"),
    [
        (OsvRange(introduced="1.0", fixed="2.0"), ">=1.0,<2.0"),
        (OsvRange(introduced="1.0", last_affected="1.5"), ">=1.0,<=1.5"),
        (OsvRange(introduced="1.0"), ">=1.0"),
        (OsvRange(fixed="2.0"), ">=0,<2.0"),
    ],
)
def test_a_span_is_a_version_range(span: OsvRange, spec: str) -> None:
    assert span.spec == spec


def test_applying_ranges_twice_changes_nothing(tmp_path: Path) -> None:
    known = load([folder_with(tmp_path, PACKAGE)])

    assert with_ranges(known.causes, known.ranges) == known.causes


SEVERAL = """
schema: 1
package: ms-swift
updated: "2026-11-21"
ranges:
""" + "".join(
    f"""
  - id: {name}
    title: {{en: x, zh: x}}
    affected: [{{introduced: "1.0.0", fixed: "2.0.0"}}]
    when: {{symptom: defect-line-ms-swift, if: {{line: "{name}"}}}}
    cause: defect-of-this-release
    weight: {weight}
    why: {{en: x, zh: x}}
    pin: ">=2"
    references:
      - {{id: a, kind: issue, url: "https://example.org/x", says: x, checked: "2026-11-21"}}
"""
    for name, weight in (("weighty", 3.9), ("light", 1.1), ("middling", 2.2))
)


def test_fixes_of_several_ranges_stand_in_the_order_of_their_weight(tmp_path: Path) -> None:
    known = read_folders([folder_with(tmp_path, SEVERAL, "ms-swift")], [])
    cause = load().causes["defect-of-this-release"]

    made = with_ranges({cause.id: cause}, known.ranges)[cause.id]

    assert [fix.id for fix in made.fixes][:3] == ["weighty", "middling", "light"]


@pytest.mark.parametrize(
    ("versions", "offered"),
    [({}, True), ({"ms-swift": "4.3.0"}, True), ({"ms-swift": "4.4.3"}, False)],
)
def test_the_line_of_a_range_offers_its_fix_unless_another_release_runs(
    versions: dict[str, str], offered: bool, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text("AttributeError: 'GKDTrainer' object has no attribute 'dynamic_num_samples'\n")

    found = diagnose(logs=[log], versions=versions)

    changes = [c.spelled for cause in found.causes for fix in cause.fixes for c in fix.changes]
    assert any("ms-swift>=4.4.3" in text for text in changes) is offered


def test_a_range_of_an_unknown_cause_is_refused(tmp_path: Path) -> None:
    entry = the_range(tmp_path, PACKAGE.replace("moe-zero3-stall", "no-such-cause"))

    with pytest.raises(KnowledgeError, match="no cause 'no-such-cause'"):
        add_ranges(load().causes, {entry.id: entry})


def test_a_vote_of_the_same_id_in_the_cause_is_refused(tmp_path: Path) -> None:
    entry = the_range(tmp_path, PACKAGE.replace("id: torch-9-is-broken", "id: sharded-experts"))

    with pytest.raises(KnowledgeError, match="has a vote or fix of that id"):
        add_ranges(load().causes, {entry.id: entry})


def test_a_file_is_named_like_its_package(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="the file name says 'vllm'"):
        read_folders([folder_with(tmp_path, PACKAGE, "vllm")], [])


def test_two_ranges_of_one_id_are_refused(tmp_path: Path) -> None:
    once = PACKAGE[PACKAGE.index("  - id:") :]

    with pytest.raises(KnowledgeError, match="stands twice"):
        read_folders([folder_with(tmp_path, PACKAGE + once)], [])


def test_a_range_is_found_by_its_id(tmp_path: Path) -> None:
    entry, _ = find_entry("torch-9-is-broken", [folder_with(tmp_path, PACKAGE)])

    assert isinstance(entry, RangeEntry)
    assert entry.package == "torch"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('pin: ">=9.0.1"', 'pin: ">=9.0.0"', "lets 9.0.0 in, which is affected"),
        ('fixed: "9.0.1"', 'fixed: "9.0.0"', "holds no release"),
        ('fixed: "9.0.1"', 'fixed: "9.0.1", last_affected: "9.0.0"', "both an end and a last"),
        ('introduced: "9.0.0"', 'introduced: "nine"', "nine"),
        ('"2026-11-21"\nranges', '"today"\nranges', "is a date like"),
        ("id: torch-9-is-broken", "id: Torch_9", "lower-case words"),
        ('pin: ">=9.0.1"', 'pin: "new"', "is not a PEP 440 version range"),
    ],
)
def test_what_is_wrong_with_a_range_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    found = problems(tmp_path, PACKAGE.replace(old, new))

    assert any(said in line for line in found), found


def test_a_sound_range_has_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, PACKAGE) == []


def test_its_page_says_releases_cause_and_cure(tmp_path: Path) -> None:
    lines = page(explained(the_range(tmp_path), View("en", 80)), View("en", 80))

    shown = "\n".join("".join(span.text for span in line) for line in lines)
    for words in ("torch >=9.0.0,<9.0.1", "moe-zero3-stall: +2 nats", "torch>=9.0.1", "vllm<9"):
        assert words in shown


def test_the_list_holds_it_under_the_family_of_its_cause(tmp_path: Path) -> None:
    known = load([folder_with(tmp_path, PACKAGE)])

    lines = page(listing(known, View("en", 200), terms=["torch-9"], family="hang"), View("en", 200))

    assert "torch-9-is-broken" in plain(lines[:1])
